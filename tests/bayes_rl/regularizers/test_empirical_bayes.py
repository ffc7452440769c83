import numpy as np
import pytest
import scipy.stats
import tensorflow as tf
from tensorflow_probability import distributions as tfd

from bayes_rl.regularizers import NormalEmpiricalBayesKLDivergence, NormalKLDivergence

MEAN = np.array([[0.3, -0.5], [0.9, 0.1]], np.float32)
STDDEV = np.array([[0.1, 0.4], [0.2, 0.8]], np.float32)


@pytest.mark.parametrize("hyper", [(2.01, 0.101), (4.4798, 10.0)])
@pytest.mark.parametrize("stddev", [STDDEV, np.float32(0.3)])
def test_equals_the_best_of_a_grid_of_variances(hyper, stddev):
    posterior = tfd.Independent(tfd.Normal(MEAN, stddev), 2)
    variances = np.geomspace(1e-3, 1e2, 4001)
    whole = np.broadcast_to(stddev, MEAN.shape)[None]
    moments = whole**2 + (MEAN[None] - 0.2) ** 2
    grid = variances[:, None, None]
    kl = 0.5 * (moments / grid - 1 + np.log(grid) - 2 * np.log(whole)).sum((1, 2))
    costs = kl - scipy.stats.invgamma(hyper[0], scale=hyper[1]).logpdf(variances)
    regularizer = NormalEmpiricalBayesKLDivergence(0.2, *hyper)
    np.testing.assert_allclose(
        regularizer.variance(posterior), variances[costs.argmin()], rtol=2e-3
    )
    np.testing.assert_allclose(regularizer(posterior), costs.min(), rtol=1e-5, atol=1e-5)


def test_gradient_treats_the_variance_as_given():
    regularizer = NormalEmpiricalBayesKLDivergence()
    mean = tf.Variable(MEAN)
    posterior = tfd.Independent(tfd.Normal(mean, STDDEV), 2)
    stddev = float(tf.sqrt(regularizer.variance(posterior)))
    with tf.GradientTape(persistent=True) as tape:
        ours = regularizer(posterior)
        fixed = NormalKLDivergence(stddev=stddev)(posterior)
    np.testing.assert_allclose(
        tape.gradient(ours, mean), tape.gradient(fixed, mean), rtol=1e-4
    )


def test_point_is_the_limit_of_a_normal_without_its_entropy():
    regularizer = NormalEmpiricalBayesKLDivergence()
    narrow = tfd.Independent(tfd.Normal(MEAN, np.float32(1e-4)), 2)
    expected = regularizer(narrow) + tf.reduce_sum(narrow.entropy())
    # A point has no variance, so -E[log prior] is what is left.
    np.testing.assert_allclose(regularizer(MEAN), expected, rtol=1e-4)


def test_calls_leave_no_state():
    regularizer = NormalEmpiricalBayesKLDivergence()
    before = dict(vars(regularizer))
    regularizer(tfd.Independent(tfd.Normal(MEAN, STDDEV), 2))
    assert vars(regularizer) == before


def test_hyper_prior_of_zero_is_an_error():
    with pytest.raises(ValueError, match="variance_scale must be above 0, got 0"):
        NormalEmpiricalBayesKLDivergence(variance_scale=0)
