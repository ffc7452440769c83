import numpy as np
import pytest
import tensorflow as tf
from tensorflow_probability import distributions as tfd

from bayes_rl import uncertainty


def test_calibration_error_by_hand():
    # Two confident and right of four at 0.9; one right of two at 0.6.
    confidence = np.array([0.9, 0.9, 0.9, 0.9, 0.6, 0.6], np.float32)
    labels = [0, 0, 1, 1, 0, 1]
    probabilities = np.stack([confidence, 1 - confidence], -1)
    error = uncertainty.expected_calibration_error(labels, probabilities)
    np.testing.assert_allclose(error, (4 * 0.4 + 2 * 0.1) / 6, rtol=1e-5)


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
