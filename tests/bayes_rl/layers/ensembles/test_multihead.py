import numpy as np
import pytest
import tensorflow as tf

import bayes_rl as ed

INPUTS = tf.random.stateless_normal([6, 5, 3], [0, 1])


def test_heads_are_parts_of_one_keras_layer():
    layer = ed.layers.DenseMultihead(4, 2, "tanh", bias_initializer="random_normal")
    for inputs in (INPUTS, INPUTS[:, 0]):
        outputs = layer(inputs)
        reference = tf.keras.layers.Dense(8, "tanh")
        reference.build(inputs.shape)
        reference.set_weights(layer.get_weights())
        expected = tf.stack(tf.split(reference(inputs), 2, axis=-1), axis=-2)
        np.testing.assert_allclose(outputs, expected, rtol=1e-5, atol=1e-6)
        assert layer.compute_output_shape(inputs.shape) == outputs.shape


def test_each_head_has_its_own_softmax():
    outputs = ed.layers.DenseMultihead(4, 3, "softmax")(INPUTS)
    np.testing.assert_allclose(tf.reduce_sum(outputs, -1), np.ones([6, 5, 3]), rtol=1e-5)


def test_a_posterior_is_held_in_draws():
    layer = ed.layers.DenseMultihead(4, 2, kernel_initializer="trainable_normal")
    layer.build(INPUTS.shape)
    with ed.hold(layer, ed.sample_weights(layer, [7], seed=1)):
        assert layer(INPUTS[:, 0]).shape == [7, 6, 2, 4]


def test_sizes_are_those_of_a_head_in_the_configuration():
    config = ed.layers.DenseMultihead(4, 3).get_config()
    assert (config["units"], config["ensemble_size"]) == (4, 3)


@pytest.mark.parametrize("name", ["units", "ensemble_size"])
def test_wrong_sizes_are_errors(name):
    with pytest.raises(ValueError, match=f"{name} must be at least 1, got 0"):
        ed.layers.DenseMultihead(**{"units": 4, name: 0})
