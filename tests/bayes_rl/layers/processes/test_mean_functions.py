import numpy as np
import tensorflow as tf

import bayes_rl as ed


def test_zeros_have_the_shape_without_features():
    outputs = ed.layers.Zeros()(tf.ones([4, 2, 3], tf.float64))
    assert outputs.dtype == tf.float64
    np.testing.assert_array_equal(outputs, np.zeros([4, 2]))


def test_keras_layer_is_a_mean_function_for_each_unit():
    mean = tf.keras.layers.Dense(2, bias_initializer="ones")
    layer = ed.layers.GaussianProcess(2, mean_fn=mean)
    inputs = tf.constant([[1.0], [2.0]])
    np.testing.assert_allclose(layer(inputs).mean(), mean(inputs), rtol=1e-6)
    assert len(layer.trainable_weights) == 2
    copy = ed.layers.GaussianProcess.from_config(layer.get_config())
    copy(inputs)
    copy.set_weights(layer.get_weights())
    np.testing.assert_allclose(copy(inputs).mean(), mean(inputs), rtol=1e-6)
