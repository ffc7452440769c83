import numpy as np
import tensorflow as tf
from tensorflow_probability import distributions as tfd

import bayes_rl as ed
from bayes_rl import uncertainty


def test_log_score_is_that_of_the_mixture():
    means, targets = tf.constant([[0.0, 1.0], [3.0, 1.0]]), tf.constant([1.0, 2.0])
    mixture = tfd.MixtureSameFamily(
        tfd.Categorical(probs=[0.5, 0.5]), tfd.Normal(tf.transpose(means), 1.0)
    )
    score = uncertainty.log_score(ed.Normal(means, 1.0), targets)
    np.testing.assert_allclose(score, -mixture.log_prob(targets), rtol=1e-6)


def test_log_score_takes_plain_numbers_for_any_precision():
    means = tf.zeros([3, 2], tf.float64)
    score = uncertainty.log_score(ed.Normal(means, 1.0), [0.0, 0.0])
    np.testing.assert_allclose(score, np.full([2], 0.5 * np.log(2 * np.pi)), rtol=1e-12)


def test_ranked_probability_score_of_normal_draws():
    # Gneiting et al., 2005, equation 5, at mean 1 and stddev 2.
    targets, normal = tf.constant([1.0, -1.0, 4.0]), tfd.Normal(0.0, 1.0)
    z = (targets - 1.0) / 2.0
    inside = z * (2.0 * normal.cdf(z) - 1.0)
    expected = 2.0 * (inside + 2.0 * normal.prob(z) - 1.0 / np.sqrt(np.pi))
    middles = (np.arange(4_000, dtype=np.float32) + 0.5) / 4_000
    draws = tf.tile(tfd.Normal(1.0, 2.0).quantile(middles)[:, None], [1, 3])
    score = uncertainty.continuous_ranked_probability_score(draws, targets)
    np.testing.assert_allclose(score, expected, rtol=2e-3)


def test_ranked_probability_score_is_mean_of_all_pairs():
    draws = tf.random.stateless_normal([5], [1, 2])
    pairs = np.abs(draws.numpy()[:, None] - draws.numpy())
    expected = np.mean(np.abs(draws - 0.3)) - pairs.sum() / (5 * 4) / 2
    score = uncertainty.continuous_ranked_probability_score(tf.reverse(draws, [0]), 0.3)
    np.testing.assert_allclose(score, expected, rtol=1e-5)
    single = uncertainty.continuous_ranked_probability_score(tf.constant([2.0]), 0.5)
    assert float(single) == 1.5
