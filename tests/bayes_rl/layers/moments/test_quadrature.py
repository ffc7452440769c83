import numpy as np
import pytest
import tensorflow as tf
from scipy import integrate, stats

import bayes_rl as ed
from bayes_rl.layers.moments.quadrature import normal_expectation

COUNT = 100_000
ACTIVATIONS = ["relu", "elu", "leaky_relu", "tanh", "sigmoid", "swish"]
INPUTS = np.array([[0.5, -1.0, 2.0], [1.5, 0.2, -0.4]], np.float32)


def wide_posterior():
    return ed.initializers.TrainableNormal("random_normal", "zeros")


def make(activation, **kwargs):
    layer = ed.layers.DenseQuadrature(
        4,
        activation=activation,
        kernel_initializer=wide_posterior(),
        bias_initializer=wide_posterior(),
        **kwargs,
    )
    layer.build([None, 3])
    return layer


@pytest.fixture(scope="module")
def drawn():
    """A layer and its outputs before the activation at many held draws."""
    layer = make(None)
    with ed.hold(layer, ed.sample_weights(layer, [COUNT], seed=1)):
        return layer, layer(INPUTS)


@pytest.mark.parametrize("activation", [None, *ACTIVATIONS])
def test_outputs_are_the_mean_of_many_draws(drawn, activation):
    layer, preactivations = drawn
    layer.activation = tf.keras.activations.get(activation)
    draws = layer.activation(preactivations).numpy()
    error = draws.std(0) / np.sqrt(COUNT)
    assert np.all(abs(layer(INPUTS) - draws.mean(0)) < 5 * error)


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_expectation_is_that_of_adaptive_integration(activation):
    function = tf.keras.activations.get(activation)
    pairs = np.array([[0.0, 1.0], [2.0, 0.5], [-1.0, 3.0], [0.3, 10.0], [5.0, 1.0]])
    ours = normal_expectation(function, *tf.constant(pairs.T))

    def weighted(x, mean, stddev):
        return stats.norm.pdf(x, mean, stddev) * function(tf.constant(x)).numpy()

    for value, (mean, stddev) in zip(ours, pairs, strict=True):
        edges = np.sort([mean - 9 * stddev, 0.0, mean, mean + 9 * stddev])
        parts = zip(edges[:-1], edges[1:], strict=True)
        expected = sum(
            integrate.fixed_quad(weighted, *part, (mean, stddev), n=60)[0] for part in parts
        )
        np.testing.assert_allclose(value, expected, rtol=2e-5, atol=1e-5)


def test_gradient_is_that_of_finite_differences():
    def expectation(parameters):
        return normal_expectation(tf.nn.relu, parameters[0], parameters[1])

    point = tf.constant([0.3, 0.8], tf.float64)
    theoretical, numerical = tf.test.compute_gradient(expectation, [point])
    np.testing.assert_allclose(theoretical[0], numerical[0], atol=1e-6)


def test_inputs_of_zeros_have_finite_gradients():
    layer = ed.layers.DenseQuadrature(4, activation="relu")
    with tf.GradientTape() as tape:
        outputs = layer(tf.zeros([2, 3]))
    gradients = tape.gradient(outputs, layer.trainable_variables)
    assert all(np.all(np.isfinite(x)) for x in gradients)
    np.testing.assert_allclose(outputs, 0.0, atol=1e-6)


def test_held_kernel_is_used_as_it_is():
    layer = make("tanh")
    weights = ed.sample_weights(layer, [5], seed=1)
    kernel, bias = (weights[f"{layer.name}/{key}"].numpy() for key in ("kernel", "bias"))
    with ed.hold(layer, weights):
        outputs = layer(INPUTS)
    np.testing.assert_allclose(outputs, np.tanh(INPUTS @ kernel + bias[:, None]), atol=1e-5)


def test_number_of_points_is_kept_and_must_be_positive():
    assert make("tanh", num_points=5).get_config()["num_points"] == 5
    with pytest.raises(ValueError, match="num_points must be at least 1, got 0"):
        make("tanh", num_points=0)


def test_softmax_is_an_error():
    with pytest.raises(ValueError, match="each unit on its own, got 'softmax'"):
        make("softmax")
