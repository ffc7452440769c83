import numpy as np
import pytest
import tensorflow as tf
from scipy import stats

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


def exact(function, mean, stddev):
    """The integral, over pieces narrower than the density and the bend at zero."""
    limits = mean - 9 * stddev, mean + 9 * stddev
    edges = [np.linspace(*limits, 181), np.linspace(-40.0, 40.0, 161)]
    edges = np.sort(np.clip(np.concatenate(edges), *limits))
    nodes, weights = np.polynomial.legendre.leggauss(16)
    low, width = edges[:-1, np.newaxis], np.diff(edges)[:, np.newaxis]
    x = low + width * (nodes + 1) / 2
    values = stats.norm.pdf(x, mean, stddev) * function(tf.constant(x)).numpy()
    return np.sum(width * weights / 2 * values)


@pytest.mark.parametrize("stddev", [0.1, 1.0, 3.0, 10.0, 30.0, 100.0])
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_error_is_as_small_as_stated_also_far_from_zero(activation, stddev):
    function = tf.keras.activations.get(activation)
    far = stddev * np.linspace(-12.0, 12.0, 49)
    means = np.concatenate([far, np.linspace(-12.0, 12.0, 25), [-1000.0, 1000.0]])
    ours = normal_expectation(function, tf.constant(means), tf.constant(stddev, "float64"))
    expected = [exact(function, mean, stddev) for mean in means]
    is_linear_in_parts = activation in ("relu", "leaky_relu")
    error = 1e-5 if is_linear_in_parts or stddev <= 3 else 2e-4
    np.testing.assert_allclose(ours, expected, rtol=0, atol=error * stddev)


def test_mean_far_above_zero_passes_relu_as_it_is():
    mean = normal_expectation(tf.nn.relu, tf.constant([1000.0]), tf.constant([1.0]))
    np.testing.assert_allclose(mean, [1000.0], rtol=3e-7)


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
