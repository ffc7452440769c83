import numpy as np
import tensorflow as tf
from tensorflow_probability import distributions as tfd

import bayes_rl as ed
from bayes_rl.layers.moments.multivariate_normal import MultivariateNormal


def make(batch=4, size=3):
    root = tf.random.stateless_normal([batch, size, size], [0, 1], dtype=tf.float64)
    covariance = tf.matmul(root, root, transpose_b=True)
    mean = tf.random.stateless_normal([batch, size], [0, 2], dtype=tf.float64)
    return MultivariateNormal(mean, covariance), tfd.MultivariateNormalTriL(
        mean, tf.linalg.cholesky(covariance)
    )


def test_is_the_normal_distribution_of_its_moments():
    ours, reference = make()
    values = reference.sample(5, seed=[1, 2])
    assert (ours.batch_shape, ours.event_shape) == ([4], [3])
    for method in ("mean", "mode", "covariance", "variance", "stddev", "entropy"):
        expected = getattr(reference, method)()
        np.testing.assert_allclose(getattr(ours, method)(), expected, rtol=1e-6)
    np.testing.assert_allclose(ours.log_prob(values), reference.log_prob(values), rtol=1e-6)
    np.testing.assert_allclose(ours.sample(5, seed=[1, 2]), values, rtol=1e-6)


def test_kl_divergence_takes_either_side():
    ours, reference = make()
    other = tfd.MultivariateNormalDiag(tf.ones([3], tf.float64))
    expected = reference.kl_divergence(other), other.kl_divergence(reference)
    np.testing.assert_allclose(ours.kl_divergence(other), expected[0], rtol=1e-6)
    np.testing.assert_allclose(other.kl_divergence(ours), expected[1], rtol=1e-6)
    np.testing.assert_allclose(ours.kl_divergence(ours), 0.0, atol=1e-8)


def test_draws_of_a_singular_distribution_are_finite_and_keep_its_covariance():
    covariance = tf.constant([[4.0, 4.0, 0.0], [4.0, 4.0, 0.0], [0.0, 0.0, 0.0]])
    draws = MultivariateNormal(tf.ones([3]), covariance).sample(10_000, seed=[1, 2])
    np.testing.assert_allclose(np.cov(draws.numpy().T), covariance, atol=0.3)
    np.testing.assert_allclose(draws[:, 2], 1.0, atol=0.1)


def test_third_layer_of_moments_keeps_its_distribution_across_a_function():
    layers = [ed.layers.DenseDVI(3, activation="relu") for _ in range(3)]
    model = tf.keras.Sequential(layers)
    inputs = tf.ones([2, 4])
    expected = model(inputs)
    found = tf.function(model)(inputs)
    assert isinstance(found, ed.RandomVariable)
    np.testing.assert_allclose(found.covariance(), expected.covariance(), rtol=1e-5)
    copy = MultivariateNormal(tf.zeros([5, 2]), tf.eye(2))
    density = tf.vectorized_map(lambda x: x.log_prob(x.value), ed.RandomVariable(copy))
    assert density.shape == [5]
