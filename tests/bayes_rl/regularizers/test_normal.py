import numpy as np
import pytest
import scipy.stats
import tensorflow as tf
from tensorflow_probability import distributions as tfd

from bayes_rl import regularizers
from bayes_rl.regularizers import NormalEmpiricalBayesKLDivergence, NormalKLDivergence


def test_closed_form_equals_that_of_tfp():
    posterior = tfd.Independent(tfd.Normal([[1.0, -2.0]], [[0.3, 2.0]]), 2)
    prior = tfd.Independent(tfd.Normal([[0.5, 0.0]], [[1.0, 3.0]]), 2)
    regularizer = regularizers.NormalKLDivergence(mean=[0.5, 0.0], stddev=[1.0, 3.0])
    np.testing.assert_allclose(
        regularizer(posterior), posterior.kl_divergence(prior), rtol=1e-5
    )


def test_kl_to_the_posterior_itself_is_zero():
    posterior = tfd.Independent(tfd.Normal([1.0, 1.0], 0.2), 1)
    np.testing.assert_allclose(
        regularizers.NormalKLDivergence(1.0, 0.2)(posterior), 0.0, atol=1e-6
    )


def test_kl_without_closed_form_is_right_in_the_mean():
    posterior = tfd.Independent(tfd.Laplace(tf.zeros([1000]), 0.5), 1)
    # E log Laplace = -log(2 b) - 1; E log Normal(0, 1) = -log(2 pi) / 2 - b^2
    expected = 1000 * (-np.log(2 * 0.5) - 1 + 0.5 * np.log(2 * np.pi) + 0.5**2)
    draws = [regularizers.NormalKLDivergence()(posterior) for _ in range(20)]
    error = np.std(draws) / np.sqrt(20)
    assert abs(np.mean(draws) - expected) < 5 * error


def test_float64_posterior_has_float64_kl():
    posterior = tfd.Independent(tfd.Normal(tf.zeros([2], tf.float64), np.float64(1.0)), 1)
    assert regularizers.NormalKLDivergence(stddev=2.0)(posterior).dtype == tf.float64


def test_configuration_makes_an_equal_regularizer():
    regularizer = regularizers.NormalKLDivergence([0.0, 1.0], 2.0, 0.1)
    copy = regularizers.deserialize(regularizers.serialize(regularizer))
    assert copy.get_config() == regularizer.get_config()


def test_prior_of_another_shape_is_an_error():
    posterior = tfd.Independent(tfd.Normal([0.0, 0.0], 1.0), 1)
    with pytest.raises(ValueError, match=r"stddev of the prior has shape \(3,\)"):
        regularizers.NormalKLDivergence(stddev=[1.0, 1.0, 1.0])(posterior)


def test_stddev_of_zero_is_an_error():
    with pytest.raises(ValueError, match="must be above 0, got 0.0"):
        regularizers.NormalKLDivergence(stddev=0.0)


def test_kl_of_256_by_256_weights_is_a_thousandth_of_a_second_of_few_operations():
    posterior = tfd.Independent(tfd.Normal(tf.zeros([256, 256]), 0.1), 2)
    cost = tf.function(lambda: regularizers.NormalKLDivergence()(posterior))
    graph = cost.get_concrete_function().graph
    assert len([op for op in graph.get_operations() if op.type != "Const"]) < 20
    assert not [op for op in graph.get_operations() if "Random" in op.type]


def test_shared_stddev_counts_for_every_element():
    posterior = tfd.Independent(tfd.Normal(tf.zeros([3, 2]), 0.1), 2)
    np.testing.assert_allclose(
        regularizers.NormalKLDivergence()(posterior),
        6 * (-np.log(0.1) + 0.1**2 / 2 - 0.5),
        rtol=1e-5,
    )


def test_tied_mean_leaves_the_means_free():
    mean = tf.Variable([3.0, -2.0])
    stddev = np.array([0.1, 0.4], np.float32)
    regularizer = regularizers.NormalKLDivergenceWithTiedMean(stddev=0.5)
    with tf.GradientTape() as tape:
        cost = regularizer(tfd.Independent(tfd.Normal(mean, stddev), 1))
    expected = np.log(0.5 / stddev) + stddev**2 / (2 * 0.5**2) - 0.5
    np.testing.assert_allclose(cost, expected.sum(), rtol=1e-5)
    np.testing.assert_array_equal(tape.gradient(cost, mean), [0.0, 0.0])


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
