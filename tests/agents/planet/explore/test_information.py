"""Tests of agents.planet.explore.information, against entropies by Monte Carlo."""

import numpy as np
import pytest
import tensorflow as tf
from tensorflow_probability import distributions as tfd

from agents.planet.explore.information import ESTIMATES, moment_matched, pairwise

DRAWS, SIZE = 5, 3


def parameters(spread, seed=0):
    generator = np.random.default_rng(seed)
    mean = spread * generator.normal(size=[DRAWS, SIZE])
    stddev = 0.1 + 0.2 * generator.uniform(size=[DRAWS, SIZE])
    return mean.astype(np.float32), stddev.astype(np.float32)


def monte_carlo(mean, stddev, count=200_000):
    """Information gain and its standard error."""
    parts = tfd.MultivariateNormalDiag(mean, stddev)
    mixture = tfd.MixtureSameFamily(tfd.Categorical(logits=tf.zeros([DRAWS])), parts)
    log_density = mixture.log_prob(mixture.sample(count, seed=[0, 1])).numpy()
    gain = -log_density.mean() - parts.entropy().numpy().mean()
    return gain, log_density.std() / np.sqrt(count)


@pytest.mark.parametrize("spread", [0.02, 0.1, 0.5, 3.0])
def test_estimates_enclose_the_information_gain(spread):
    mean, stddev = parameters(spread)
    gain, error = monte_carlo(mean, stddev)
    assert pairwise(mean, stddev) < gain + 5 * error
    assert gain - 5 * error < moment_matched(mean, stddev)


def test_estimates_are_near_the_information_gain_where_draws_differ_little():
    mean, stddev = parameters(0.05)
    stddev = np.broadcast_to(stddev[:1], stddev.shape)
    gain, error = monte_carlo(mean, stddev)
    assert abs(moment_matched(mean, stddev) - gain) < 0.15 * gain + 5 * error


def test_equal_stddevs_have_a_closed_form():
    mean, _ = parameters(0.3)
    expected = 0.5 * np.log1p(mean.var(0) / 0.2**2).sum()
    found = moment_matched(mean, np.full_like(mean, 0.2))
    np.testing.assert_allclose(found, expected, rtol=1e-5)


@pytest.mark.parametrize("estimate", ESTIMATES.values(), ids=ESTIMATES)
def test_identical_draws_tell_nothing(estimate):
    mean, stddev = (np.repeat(x[:1], DRAWS, axis=0) for x in parameters(1.0))
    np.testing.assert_allclose(estimate(mean, stddev), 0.0, atol=1e-6)


def test_two_draws_by_hand():
    # BD = 2^2 / (4 (1 + 4)) + log((1 + 4) / (2 * 1 * 2)) / 2
    distance = 0.2 + 0.5 * np.log(1.25)
    found = pairwise(tf.constant([[0.0], [2.0]]), tf.constant([[1.0], [2.0]]))
    np.testing.assert_allclose(found, -np.log((1 + np.exp(-distance)) / 2), rtol=1e-6)


@pytest.mark.parametrize(("spread", "within"), [(0.5, 0.1), (1.0, 0.05), (10.0, 0.001)])
def test_pairwise_bound_grows_tight_where_draws_move_apart(spread, within):
    mean, stddev = parameters(spread)
    gain, error = monte_carlo(mean, stddev)
    assert gain - pairwise(mean, stddev) < within * gain + 5 * error


def test_draws_far_apart_tell_which_they_are():
    mean = np.arange(DRAWS * 1.0)[:, None] * 1e3
    found = pairwise(tf.constant(mean), tf.ones_like(mean))
    np.testing.assert_allclose(found, np.log(DRAWS), rtol=1e-6)
