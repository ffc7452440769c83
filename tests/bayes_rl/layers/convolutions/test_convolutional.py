import numpy as np
import pytest
import tensorflow as tf

import bayes_rl as ed

LAYERS = [ed.layers.Conv1DReparameterization, ed.layers.Conv1DFlipout]


@pytest.mark.parametrize("layer_class", LAYERS)
def test_causal_padding_keeps_the_length_and_sees_no_future(layer_class):
    layer = layer_class(4, 3, padding="causal", dilation_rate=2)
    inputs = tf.random.stateless_normal([2, 10, 3], [0, 1])
    layer.build(inputs.shape)
    later = tf.concat([inputs[:, :6], inputs[:, 6:] + 1.0], axis=1)
    with ed.hold(layer, ed.sample_weights(layer, seed=1, batch_size=2)):
        outputs, changed = layer(inputs), layer(later)
    assert outputs.shape == [2, 10, 4]
    np.testing.assert_array_equal(outputs[:, :6], changed[:, :6])
    assert np.all(outputs[:, 6] != changed[:, 6])


@pytest.mark.parametrize(
    "layer_class", [ed.layers.Conv2DReparameterization, ed.layers.Conv2DFlipout]
)
def test_groups_equal_keras_at_the_mean(layer_class):
    layer = layer_class(6, 3, groups=2, kernel_initializer="trainable_he_normal")
    inputs = tf.random.stateless_normal([2, 5, 5, 4], [0, 1])
    assert layer(inputs).shape == [2, 3, 3, 6]
    reference = tf.keras.layers.Conv2D(6, 3, groups=2)
    reference.build(inputs.shape)
    reference.set_weights([layer.kernel.distribution.mean(), np.zeros(6)])
    with ed.hold(layer, ed.mean_weights(layer)):
        np.testing.assert_allclose(layer(inputs), reference(inputs), atol=1e-5)


def test_groups_have_signs_of_every_channel():
    layer = ed.layers.Conv2DFlipout(6, 3, groups=2)
    layer.build([None, 5, 5, 4])
    sizes = {"kernel/sign_input": 4, "kernel/sign_output": 6}
    assert layer.sign_sizes() == sizes


def test_the_papers_name_is_an_alias():
    assert ed.layers.VariationalConv2D is ed.layers.Conv2DReparameterization
    assert ed.layers.VariationalDense is ed.layers.DenseReparameterization


def test_arguments_are_in_the_order_of_edward2():
    layer = ed.layers.Conv2DFlipout(
        4, 3, (2, 2), "same", "channels_last", (1, 1), "relu", False, "he_normal"
    )
    config = layer.get_config()
    assert config["strides"] == (2, 2)
    assert config["activation"] == "relu"
    assert not config["use_bias"]
    assert type(layer.kernel_initializer) is tf.keras.initializers.HeNormal


def test_constraint_of_a_posterior_is_an_error():
    layer = ed.layers.Conv1DFlipout(4, 3, kernel_constraint="non_neg")
    with pytest.raises(ValueError, match="'kernel' has a posterior.*mean_constraint"):
        layer.build([None, 9, 3])


def test_the_kernel_of_a_deterministic_layer_may_have_a_constraint():
    layer = ed.layers.Conv1DFlipout(
        4, 3, kernel_initializer="he_normal", kernel_constraint="non_neg"
    )
    layer.build([None, 9, 3])
    assert type(layer.kernel.constraint) is tf.keras.constraints.NonNeg
