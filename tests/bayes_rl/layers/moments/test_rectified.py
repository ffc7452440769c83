import numpy as np
import pytest
import tensorflow as tf
from scipy import integrate, stats
from tensorflow_probability import distributions as tfd

import bayes_rl as ed
from bayes_rl.layers.moments.rectified import rectified_moments

RATIOS = [-2.0, -0.3, 0.0, 0.5, 2.5]


def second_moment(a, b, r):
    """E[max(0, a + u) max(0, b + v)], from the moments of a truncated bivariate normal.

    Rosenbaum, 1961, Moments of a Truncated Bivariate Normal Distribution.
    """
    q = np.sqrt(1 - r**2)
    normal = stats.multivariate_normal([0, 0], [[1, r], [r, 1]])
    first = b * stats.norm.pdf(a) * stats.norm.cdf((b - r * a) / q)
    second = a * stats.norm.pdf(b) * stats.norm.cdf((a - r * b) / q)
    return (a * b + r) * normal.cdf([a, b]) + first + second + q**2 * normal.pdf([a, b])


@pytest.mark.parametrize("r", [-0.999, -0.9, -0.4, 0.0, 0.3, 0.8, 0.97, 0.999])
def test_rectified_covariance_is_that_of_truncated_normals(r):
    stddev, other = 0.7, 1.9
    a, b = (x.ravel() for x in np.meshgrid(RATIOS, RATIOS))
    mean = tf.constant(np.stack([stddev * a, other * b], -1))
    covariance = np.array([[1, r], [r, 1]]) * np.outer([stddev, other], [stddev, other])
    covariance = tf.constant(np.tile(covariance, [len(a), 1, 1]))
    moments = rectified_moments(mean, tf.linalg.diag_part(covariance), covariance)
    ours_mean, ours_variance, ours = (x.numpy() for x in moments)
    soft = np.stack([x * stats.norm.cdf(x) + stats.norm.pdf(x) for x in (a, b)])
    squares = np.stack(
        [(x**2 + 1) * stats.norm.cdf(x) + x * stats.norm.pdf(x) for x in (a, b)]
    )
    scales = np.array([[stddev], [other]])
    product = np.array([second_moment(*pair, r) for pair in zip(a, b, strict=True)])
    np.testing.assert_allclose(ours_mean.T, scales * soft, rtol=1e-10)
    np.testing.assert_allclose(
        ours_variance.T, scales**2 * (squares - soft**2), rtol=1e-8, atol=1e-12
    )
    expected = stddev * other * (product - soft[0] * soft[1])
    np.testing.assert_allclose(ours[:, 0, 1], expected, atol=3e-6)
    np.testing.assert_allclose(ours[:, 1, 0], expected, atol=3e-6)
    np.testing.assert_allclose(tf.linalg.diag_part(ours), ours_variance)


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_rectified_covariance_of_equal_or_opposite_variables(sign):
    mean = tf.constant([0.4, 0.4 * sign], tf.float64)
    covariance = tf.constant([[1.0, sign], [sign, 1.0]], tf.float64)
    _, variance, rectified = rectified_moments(mean, tf.ones_like(mean), covariance)
    opposite = -ed.layers.soft_relu(mean[0]) * ed.layers.soft_relu(mean[1])
    expected = variance[0] if sign > 0 else opposite  # the product is always zero
    np.testing.assert_allclose(rectified[0, 1], expected, atol=1e-6)


def test_units_far_above_zero_keep_their_moments():
    mean, covariance = tf.constant([900.0, 700.0]), tf.constant([[1.0, 0.5], [0.5, 2.0]])
    moments = rectified_moments(mean, tf.linalg.diag_part(covariance), covariance)
    np.testing.assert_allclose(moments[0], mean, rtol=1e-6)
    np.testing.assert_allclose(moments[2], covariance, rtol=1e-5)


@pytest.mark.parametrize("mean", [-1.0, 0.0, 1.0])
def test_units_without_variance_have_finite_moments_and_gradients(mean):
    mean, covariance = tf.fill([2], mean), tf.zeros([2, 2])
    with tf.GradientTape() as tape:
        tape.watch([mean, covariance])
        moments = rectified_moments(mean, tf.linalg.diag_part(covariance), covariance)
    gradients = tape.gradient(moments, [mean, covariance])
    assert all(np.all(np.isfinite(x)) for x in (*moments, *gradients))
    np.testing.assert_allclose(moments[0], tf.nn.relu(mean), atol=1e-6)
    np.testing.assert_allclose(moments[2], 0.0, atol=1e-6)


def test_gradient_is_that_of_finite_differences():
    def covariance_of(parameters):
        mean, correlation = parameters[:2], parameters[2]
        matrix = tf.stack([[1.0, correlation], [correlation, 1.0]])
        return rectified_moments(mean, tf.ones_like(mean), matrix)[2][0, 1]

    point = tf.constant([0.3, -0.4, 0.6], tf.float64)
    theoretical, numerical = tf.test.compute_gradient(covariance_of, [point])
    np.testing.assert_allclose(theoretical[0], numerical[0], atol=1e-5)


@pytest.mark.parametrize("mean", [-4.0, -1.0, 0.0, 2.0])
def test_soft_relu_is_the_mean_of_a_rectified_normal(mean):
    expected, _ = integrate.quad(lambda x: x * stats.norm.pdf(x, mean), 0.0, 12.0)
    np.testing.assert_allclose(
        ed.layers.soft_relu(tf.constant(mean, tf.float64)), expected, rtol=1e-6
    )


def test_moments_of_a_tensor_are_those_of_a_constant():
    mean, variance, covariance = ed.layers.get_moments(tf.ones([2, 3]))
    np.testing.assert_array_equal(mean, np.ones([2, 3]))
    np.testing.assert_array_equal(variance, np.zeros([2, 3]))
    np.testing.assert_array_equal(covariance, np.zeros([2, 3, 3]))


@pytest.mark.parametrize(
    "distribution",
    [
        tfd.Normal(tf.ones([2, 3]), 2.0),
        tfd.Independent(tfd.Normal(tf.ones([2, 3]), 2.0), 1),
        tfd.MultivariateNormalDiag(tf.ones([2, 3]), 2.0 * tf.ones([3])),
        tfd.MultivariateNormalTriL(tf.ones([2, 3]), 2.0 * tf.eye(3)),
    ],
    ids=lambda distribution: type(distribution).__name__,
)
def test_moments_of_a_random_variable_are_those_of_its_distribution(distribution):
    moments = ed.layers.get_moments(ed.RandomVariable(distribution))
    for ours, expected in zip(
        moments, (np.ones(3), np.full(3, 4.0), 4 * np.eye(3)), strict=True
    ):
        np.testing.assert_allclose(ours, np.broadcast_to(expected, [2, *expected.shape]))
