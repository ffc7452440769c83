import numpy as np
import pytest
import tensorflow as tf

from bayes_rl.layers.outputs.predictive_softmax import (
    mean_field_logits,
    monte_carlo_softmax,
)

LOGITS = np.array([[0.5, -1.0], [2.0, 0.3]], "float32")
COVARIANCE = np.array([[0.5, 0.2], [0.2, 1.5]], "float32")
VARIANCE = np.diag(COVARIANCE)[:, None]


def normal_expectation(function):
    points, weights = np.polynomial.hermite_e.hermegauss(60)
    values = function(LOGITS[..., None] + np.sqrt(VARIANCE)[..., None] * points)
    return values @ weights / np.sqrt(2 * np.pi)


def test_poisson_is_exact():
    adjusted = mean_field_logits(LOGITS, COVARIANCE, likelihood="poisson")
    np.testing.assert_allclose(np.exp(adjusted), normal_expectation(np.exp), rtol=1e-5)


def test_logistic_with_the_probit_factor_is_near_the_integral():
    adjusted = mean_field_logits(LOGITS, COVARIANCE, np.pi / 8, "binary_logistic")
    exact = normal_expectation(lambda x: 1 / (1 + np.exp(-x)))
    np.testing.assert_allclose(tf.sigmoid(adjusted), exact, atol=0.01)


def test_forms_of_the_arguments():
    np.testing.assert_allclose(mean_field_logits(LOGITS), LOGITS / np.sqrt(2), rtol=1e-6)
    np.testing.assert_array_equal(mean_field_logits(LOGITS, COVARIANCE, -1.0), LOGITS)
    column = mean_field_logits(LOGITS[:, 0], COVARIANCE)
    np.testing.assert_allclose(column, mean_field_logits(LOGITS, COVARIANCE)[:, 0])


def test_monte_carlo_softmax_of_two_classes_is_the_integral():
    count = 100_000
    estimate = monte_carlo_softmax(LOGITS, VARIANCE[:, 0], count, 2.0, seed=[1, 2])
    points, weights = np.polynomial.hermite_e.hermegauss(60)
    difference = (LOGITS[:, :1] - LOGITS[:, 1:]) + np.sqrt(2 * VARIANCE) * points
    exact = (1 / (1 + np.exp(-difference / 2.0))) @ weights / np.sqrt(2 * np.pi)
    np.testing.assert_allclose(estimate[:, 0], exact, atol=5 * 0.5 / np.sqrt(count))
    np.testing.assert_allclose(tf.reduce_sum(estimate, -1), 1.0, rtol=1e-5)


def test_unknown_likelihood_is_an_error():
    with pytest.raises(ValueError, match="likelihood must be one of .* got 'probit'"):
        mean_field_logits(LOGITS, likelihood="probit")


def test_no_draws_are_an_error():
    with pytest.raises(ValueError, match="num_samples must be at least 1, got 0"):
        monte_carlo_softmax(LOGITS, VARIANCE, num_samples=0)
