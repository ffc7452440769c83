import numpy as np
import pytest
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


def test_calibration_error_by_hand():
    # Two confident and right of four at 0.9; one right of two at 0.6.
    confidence = np.array([0.9, 0.9, 0.9, 0.9, 0.6, 0.6], np.float32)
    labels = [0, 0, 1, 1, 0, 1]
    probabilities = np.stack([confidence, 1 - confidence], -1)
    error = uncertainty.expected_calibration_error(labels, probabilities)
    np.testing.assert_allclose(error, (4 * 0.4 + 2 * 0.1) / 6, rtol=1e-5)


def test_probability_rounded_beyond_one_is_of_the_last_bin():
    probabilities = np.float32([[1.0000001, -1e-7], [0.05, 0.95]])
    error = uncertainty.expected_calibration_error([0, 0], probabilities)
    np.testing.assert_allclose(error, 0.95 / 2, rtol=1e-5)


@pytest.mark.parametrize("num_bins", [0, -1])
def test_calibration_without_bins_is_an_error(num_bins):
    with pytest.raises(ValueError, match=f"num_bins must be at least 1, got {num_bins}"):
        uncertainty.expected_calibration_error([0], [[1.0, 0.0]], num_bins)


def test_frequent_as_predicted_is_calibrated():
    probabilities = np.tile([[0.75, 0.25]], [8, 1]).astype(np.float32)
    labels = [0, 0, 0, 0, 0, 0, 1, 1]
    assert float(uncertainty.expected_calibration_error(labels, probabilities)) < 1e-6


def test_brier_score_is_a_squared_distance():
    probabilities = tf.constant([[0.2, 0.5, 0.3], [0.0, 1.0, 0.0]])
    expected = np.square(probabilities - tf.one_hot([2, 0], 3)).sum(-1)
    score = uncertainty.brier_score([2, 0], probabilities)
    np.testing.assert_allclose(score, expected, rtol=1e-6)


@pytest.mark.parametrize("level", [0.5, 0.9])
def test_coverage_of_the_true_distribution_is_the_level(level):
    middles = (np.arange(1000, dtype=np.float32) + 0.5) / 1000
    quantiles = tfd.Normal(1.0, 2.0).quantile(middles)
    draws = tf.tile(quantiles[:, None], [1, 1000])
    coverage = uncertainty.interval_coverage(draws, quantiles, level)
    np.testing.assert_allclose(coverage, level, atol=2e-3)


def test_wrong_level_is_an_error():
    with pytest.raises(ValueError, match="between 0 and 1, got 90"):
        uncertainty.interval_coverage([[0.0]], [0.0], 90)


PROBABILITIES = np.array([[0.7, 0.2, 0.1], [0.0, 1.0, 0.0], [0.3, 0.3, 0.4]])
LABELS = np.array([0, 1, 0])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [[3], [3, 1]])
def test_types_and_columns_of_labels_do_not_matter(dtype, shape):
    labels, probabilities = LABELS.reshape(shape), PROBABILITIES.astype(dtype)
    error = uncertainty.expected_calibration_error(labels, probabilities)
    np.testing.assert_allclose(error, (0.3 + 0.0 + 0.4) / 3, rtol=1e-6)
    score = uncertainty.brier_score(labels, probabilities)
    np.testing.assert_allclose(score, [0.14, 0.0, 0.74], rtol=1e-6)
    assert (error.dtype, score.dtype) == (dtype, dtype)


@pytest.mark.parametrize(
    "function", [uncertainty.expected_calibration_error, uncertainty.brier_score]
)
def test_labels_of_another_shape_are_an_error(function):
    with pytest.raises(ValueError, match=r"must have shape \(3,\), got \(2,\)"):
        function(LABELS[:2], PROBABILITIES)


def test_slopes_of_the_brier_score_are_finite_at_probability_zero():
    probabilities = tf.constant(PROBABILITIES)
    with tf.GradientTape() as tape:
        tape.watch(probabilities)
        score = uncertainty.brier_score(LABELS, probabilities)
    expected = 2 * (PROBABILITIES - np.eye(3)[LABELS])
    np.testing.assert_allclose(tape.gradient(score, probabilities), expected)


@pytest.mark.parametrize("level", [0.5, 2 / 3, 0.9])
def test_coverage_of_few_draws_is_the_level_in_expectation(level):
    generator = np.random.default_rng(0)
    draws, targets = generator.normal(size=[5, 100_000]), generator.normal(size=100_000)
    coverage = uncertainty.interval_coverage(draws, targets, level)
    np.testing.assert_allclose(coverage, level, atol=0.01)


def test_ends_at_draws_are_those_draws():
    draws = np.tile(np.arange(1.0, 6.0)[:, None], [1, 6])  # 1 to 5: the interval is [1, 5]
    targets = np.array([0.9, 1.0, 1.1, 4.9, 5.0, 5.1])
    assert uncertainty.interval_coverage(draws, targets, 2 / 3) == 4 / 6


def test_draws_of_counts_are_scored_as_numbers():
    draws, targets = np.array([[0, 2], [2, 3], [5, 4]]), np.array([1, 9])
    for score in (
        ed.uncertainty.continuous_ranked_probability_score,
        lambda *given: ed.uncertainty.interval_coverage(*given, level=0.5),
    ):
        expected = score(draws.astype("float32"), targets.astype("float32"))
        np.testing.assert_allclose(score(draws, targets), expected, rtol=1e-6)
