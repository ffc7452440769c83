import numpy as np
import pytest
import tensorflow as tf

import bayes_rl as ed
from tests.bayes_rl.layers.jacobians import log_det_of_inverse, randomize


def make(shape, dtype="float64"):
    halves = [tf.keras.layers.Dense(shape[-1] // 2, "tanh", dtype=dtype) for _ in "fg"]
    layer = ed.layers.ReversibleResidual(*halves, dtype=dtype)
    inputs = tf.random.stateless_normal(shape, [0, 1], dtype=dtype)
    layer(inputs)
    randomize(layer, stddev=1.0)
    return layer, inputs


@pytest.mark.parametrize("shape", [[5, 4], [5, 3, 4]])
def test_inverse_volume_and_formula(shape):
    layer, inputs = make(shape)
    outputs = layer(inputs)
    np.testing.assert_allclose(layer.reverse(outputs), inputs, atol=1e-12)
    np.testing.assert_allclose(log_det_of_inverse(layer, inputs), 0.0, atol=1e-10)
    assert layer.log_det_jacobian(outputs) == 0.0
    first, second = tf.split(inputs, 2, axis=-1)
    first += layer.f(second)
    np.testing.assert_allclose(outputs, tf.concat([first, second + layer.g(first)], -1))


def test_pulls_back_inputs_and_gradients():
    layer, inputs = make([5, 4])
    weights = tf.random.stateless_normal([5, 4], [0, 2], dtype=tf.float64)
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        outputs = layer(inputs)
    expected = tape.gradient(outputs, [inputs, *layer.trainable_variables], weights)
    found, gradient, pairs = layer.pull_back(outputs, weights)
    np.testing.assert_allclose(found, inputs, atol=1e-12)
    np.testing.assert_allclose(gradient, expected[0], atol=1e-12)
    by_variable = {variable.ref(): own for variable, own in pairs}
    for variable, own in zip(layer.trainable_variables, expected[1:], strict=True):
        np.testing.assert_allclose(by_variable[variable.ref()], own, atol=1e-12)


def test_random_variable_keeps_its_volume():
    layer, _ = make([5, 4], "float32")
    outputs = layer(ed.Normal(tf.zeros([5, 4]), 1.0))
    values = tf.random.stateless_normal([5, 4], [0, 3])
    expected = tf.reduce_sum(ed.Normal(0.0, 1.0).log_prob(layer.reverse(values)), -1)
    np.testing.assert_allclose(outputs.log_prob(values), expected, rtol=1e-5)


def test_odd_axis_is_an_error():
    dense = tf.keras.layers.Dense
    with pytest.raises(ValueError, match=r"last axis must be even, .* shape \(5, 3\)"):
        ed.layers.ReversibleResidual(dense(1), dense(1))(tf.ones([5, 3]))


@pytest.mark.parametrize("is_chain", [False, True])
def test_first_use_on_a_random_variable_knows_the_event(is_chain):
    halves = [tf.keras.layers.Dense(2, "tanh") for _ in "fg"]
    layer = ed.layers.ReversibleResidual(*halves)
    if is_chain:
        layer = ed.layers.ReversibleSequential([layer, ed.layers.ActNorm()])
    base = ed.Normal(tf.zeros([5, 4]), 1.0)
    first, second = (layer(base).log_prob(tf.ones([5, 4])) for _ in range(2))
    assert first.shape == [5]
    np.testing.assert_array_equal(first, second)
