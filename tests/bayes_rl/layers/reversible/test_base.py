import numpy as np
import pytest
import tensorflow as tf

import bayes_rl as ed


def test_tracks_the_layer_and_swaps_its_directions():
    flow = ed.layers.RealNVP(tf.keras.layers.Dense(6), mask=[1, 0, 1])
    layer = ed.layers.Reverse(flow)
    inputs = tf.random.stateless_normal([4, 3], [0, 1])
    np.testing.assert_allclose(layer(inputs), flow.reverse(inputs))
    np.testing.assert_allclose(layer.reverse(inputs), flow(inputs))
    assert len(layer.trainable_weights) == len(flow.trainable_weights) == 3


def test_random_variable_passes():
    class Exp(ed.layers.ActNorm):
        def call(self, inputs):
            return tf.exp(inputs)

        def reverse(self, outputs):
            return tf.math.log(outputs)

        def log_det_jacobian(self, outputs):
            return -tf.math.log(outputs)

    outputs = ed.layers.Reverse(Exp())(ed.LogNormal(tf.zeros([3]), 1.0))
    expected = ed.Normal(0.0, 1.0).log_prob(outputs.value)
    np.testing.assert_allclose(outputs.log_prob(outputs), expected, rtol=1e-5)


def test_missing_reverse_is_an_error_of_the_call_alone():
    layer = ed.layers.Reverse(tf.keras.layers.Dense(3, name="dense"), name="back")
    assert layer.reverse(tf.ones([4, 2])).shape == [4, 3]
    message = "Dense layer 'dense' has no reverse, so 'back' cannot reverse it"
    with pytest.raises(NotImplementedError, match=message):
        layer(tf.ones([4, 2]))


def test_twice_is_the_layer():
    flow = ed.layers.NICE(tf.keras.layers.Dense(2), mask=[0, 1])
    inputs = tf.random.stateless_normal([4, 2], [0, 1])
    twice = ed.layers.Reverse(ed.layers.Reverse(flow))
    np.testing.assert_allclose(twice(inputs), flow(inputs))
