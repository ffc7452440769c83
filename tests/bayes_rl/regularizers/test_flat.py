import numpy as np
import pytest
import scipy.integrate
import scipy.special
import tensorflow as tf
from tensorflow_probability import distributions as tfd

from bayes_rl import regularizers


def cost(mean, stddev):
    return regularizers.LogUniformKLDivergence()(tfd.Normal(mean, stddev))


def integrated(log_alpha):
    """E log|w| less that of mean 0: the KL, as the entropies are the same."""
    mean = np.exp(-log_alpha / 2)

    def expected_log(mean):
        def integrand(x):
            density = np.exp(-0.5 * (x - mean) ** 2) + np.exp(-0.5 * (x + mean) ** 2)
            return np.log(x) * density / np.sqrt(2 * np.pi)

        # The logarithm's singularity at 0 is the first edge.
        edges = [0.0, 1e-6, 1.0, max(mean - 8, 2), mean + 8]
        pieces = zip(edges[:-1], edges[1:], strict=True)
        return sum(scipy.integrate.quad(integrand, *p, limit=500)[0] for p in pieces)

    return expected_log(mean) - expected_log(0.0)


@pytest.mark.parametrize("log_alpha", [-12.0, -8.0, -6.0, -3.0, 0.0, 1.0, 3.0, 6.0])
def test_equals_the_integral(log_alpha):
    found = cost([2.0], [2.0 * np.exp(log_alpha / 2)])
    np.testing.assert_allclose(found, integrated(log_alpha), rtol=1e-4)


def test_values_of_the_literature():
    # Molchanov et al., 2017, equation 14.
    log_alpha = np.linspace(-8, 8, 33)
    k1, k2, k3 = 0.63576, 1.87320, 1.48695
    sigmoid = scipy.special.expit(k2 + k3 * log_alpha)
    fit = 0.5 * np.log1p(np.exp(-log_alpha)) - k1 * (sigmoid - 1)
    found = [cost([1.0], [np.exp(x / 2)]) for x in log_alpha]
    np.testing.assert_allclose(found, fit, atol=0.01)


def test_gradient_is_dawson_s_function():
    ratio = np.exp(np.linspace(-5, 5, 41)).astype(np.float32)
    mean = tf.Variable(ratio)
    with tf.GradientTape() as tape:
        value = cost(mean, tf.ones_like(mean))
    # KL = 2 * integral of Dawson's function up to mean / (sqrt(2) stddev)
    expected = np.sqrt(2) * scipy.special.dawsn(ratio / np.sqrt(2))
    np.testing.assert_allclose(tape.gradient(value, mean), expected, rtol=1e-3)


def test_more_noise_costs_less():
    stddev = tf.Variable(np.geomspace(1e-3, 1e3, 50).astype(np.float32))
    with tf.GradientTape() as tape:
        value = cost(tf.ones(50), stddev)
    assert np.all(tape.gradient(value, stddev) < 0)


def test_weight_of_mean_zero_costs_nothing_and_has_finite_gradients():
    mean = tf.Variable([0.0, 0.0])
    with tf.GradientTape() as tape:
        value = cost(mean, tf.constant([1.0, 1e-3]))
    assert abs(value) < 1e-6
    np.testing.assert_array_equal(tape.gradient(value, mean), [0.0, 0.0])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_keeps_the_type(dtype):
    assert cost(tf.ones([2], dtype), tf.ones([2], dtype)).dtype == dtype


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (tfd.HalfCauchy([0.0], 1.0), "needs a normal posterior, got HalfCauchy"),
        (tf.ones([2]), "needs a normal posterior, got a weight without a posterior"),
    ],
)
def test_other_posteriors_are_an_error(weight, message):
    with pytest.raises(ValueError, match=message):
        regularizers.LogUniformKLDivergence()(weight)
