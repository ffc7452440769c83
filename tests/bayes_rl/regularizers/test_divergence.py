"""Every (posterior, prior) against numerical integration."""

import functools

import numpy as np
import pytest
import scipy.special
import scipy.stats
import tensorflow as tf
from tensorflow_probability import distributions as tfd

import bayes_rl as ed
from bayes_rl import regularizers

POSTERIORS = {
    "normal": (tfd.Normal, (0.4, 0.3), scipy.stats.norm(0.4, 0.3)),
    "cauchy": (tfd.Cauchy, (0.4, 0.3), scipy.stats.cauchy(0.4, 0.3)),
    "half_cauchy": (tfd.HalfCauchy, (0.4, 0.3), scipy.stats.halfcauchy(0.4, 0.3)),
    "log_normal": (
        tfd.LogNormal,
        (-0.4, 0.3),
        scipy.stats.lognorm(0.3, scale=np.exp(-0.4)),
    ),
    "laplace": (tfd.Laplace, (0.4, 0.3), scipy.stats.laplace(0.4, 0.3)),
}
PRIORS = {
    "normal": (
        regularizers.NormalKLDivergence(0.1, 0.8),
        scipy.stats.norm(0.1, 0.8),
    ),
    "cauchy": (
        regularizers.CauchyKLDivergence(0.1, 0.8),
        scipy.stats.cauchy(0.1, 0.8),
    ),
    "half_cauchy": (
        regularizers.HalfCauchyKLDivergence(0.0, 0.8),
        scipy.stats.halfcauchy(0.0, 0.8),
    ),
    "log_normal": (
        regularizers.LogNormalKLDivergence(0.1, 0.8),
        scipy.stats.lognorm(0.8, scale=np.exp(0.1)),
    ),
    "uniform": (regularizers.UniformKLDivergence(), None),
}
CLOSED = [
    ("normal", "normal"),
    ("log_normal", "log_normal"),
    ("cauchy", "cauchy"),
    *((posterior, "uniform") for posterior in POSTERIORS),
]
SAMPLED = [
    ("log_normal", "normal"),
    ("laplace", "normal"),
    ("normal", "cauchy"),
    ("half_cauchy", "cauchy"),
    ("log_normal", "cauchy"),
    ("half_cauchy", "half_cauchy"),
    ("log_normal", "half_cauchy"),
    ("half_cauchy", "log_normal"),
]
INFINITE = [
    ("cauchy", "normal"),
    ("half_cauchy", "normal"),
    ("normal", "half_cauchy"),
    ("cauchy", "half_cauchy"),
    ("normal", "log_normal"),
    ("cauchy", "log_normal"),
]
COUNT = 100_000


def posterior_of(name, shape):
    family, parameters, _ = POSTERIORS[name]
    location, scale = (tf.fill(shape, np.float32(x)) for x in parameters)
    return tfd.Independent(family(location, scale), len(shape))


@functools.cache
def integrated(posterior, prior):
    """Mean and variance of log q - log p, as integrals over logits of quantiles of q."""
    q, p = POSTERIORS[posterior][2], PRIORS[prior][1]
    logits = np.linspace(-27.0, 27.0, 4001)
    probability = scipy.special.expit(logits)
    weight = probability * scipy.special.expit(-logits) * (logits[1] - logits[0])
    x = q.ppf(probability)
    difference = q.logpdf(x) - (0.0 if p is None else p.logpdf(x))
    mean = np.sum(weight * difference)
    return mean, np.sum(weight * (difference - mean) ** 2)


@pytest.mark.parametrize(("posterior", "prior"), CLOSED)
def test_closed_forms(posterior, prior):
    mean, _ = integrated(posterior, prior)
    cost = PRIORS[prior][0](posterior_of(posterior, [2, 3]))
    np.testing.assert_allclose(cost, 6 * mean, rtol=1e-4)


@pytest.mark.parametrize(("posterior", "prior"), SAMPLED)
def test_draws_are_right_in_mean_and_variance(posterior, prior):
    tf.random.set_seed(1)
    mean, variance = integrated(posterior, prior)
    cost = PRIORS[prior][0](posterior_of(posterior, [COUNT]))
    assert abs(cost - COUNT * mean) < 5 * np.sqrt(COUNT * variance)


def test_more_samples_have_less_variance():
    posterior = posterior_of("normal", [3])
    mean, variance = integrated("normal", "cauchy")
    regularizer = regularizers.CauchyKLDivergence(0.1, 0.8, num_samples=COUNT)
    cost = regularizer(posterior)
    assert abs(cost - 3 * mean) < 5 * np.sqrt(3 * variance / COUNT)


@pytest.mark.parametrize(("posterior", "prior"), INFINITE)
def test_infinite_kl_is_an_error(posterior, prior):
    with pytest.raises(ValueError, match="is infinite, because the"):
        PRIORS[prior][0](posterior_of(posterior, [2]))


@pytest.mark.parametrize("prior", ["normal", "cauchy", "half_cauchy", "log_normal"])
def test_points_cost_minus_log_prior(prior):
    regularizer, reference = PRIORS[prior]
    points = np.array([[0.2, 0.7, 1.5], [0.3, 0.4, 0.5]], np.float32)
    expected = -reference.logpdf(points).sum()
    np.testing.assert_allclose(regularizer(points), expected, rtol=1e-5)
    point = tfd.Independent(tfd.Deterministic(points), 2)
    np.testing.assert_allclose(regularizer(point), expected, rtol=1e-5)


@pytest.mark.parametrize("prior", ["normal", "cauchy", "half_cauchy", "log_normal"])
def test_mixture_of_points_costs_the_mean_less_the_entropy_of_the_choice(prior):
    regularizer, reference = PRIORS[prior]
    points = np.array([[0.2, 0.7, 1.5], [0.3, 0.4, 0.5]], np.float32)  # [weights, K]
    choice = tfd.Categorical(logits=tf.zeros([3]))
    mixture = tfd.MixtureSameFamily(choice, tfd.Deterministic(points))
    expected = -reference.logpdf(points).mean(1).sum() - 2 * np.log(3)
    posterior = tfd.Independent(mixture, 1)
    np.testing.assert_allclose(regularizer(posterior), expected, rtol=1e-5)


def test_seeded_draws_are_the_same_at_every_call_and_differ_between_weights():
    def cost(seed, name):
        posterior = tfd.Independent(tfd.Normal([0.4, 0.1], 0.3), 1, name=name)
        return float(regularizers.CauchyKLDivergence(seed=seed)(posterior))

    assert cost(1, "a") == cost(1, "a")
    assert len({cost(1, "a"), cost(1, "b"), cost(2, "a"), cost(None, "a")}) == 4


@pytest.mark.parametrize(("posterior", "prior"), [*CLOSED[:3], *SAMPLED[:4]])
def test_gradients_reach_both_parameters(posterior, prior):
    family, parameters, _ = POSTERIORS[posterior]
    variables = [tf.Variable([x, x]) for x in parameters]
    with tf.GradientTape() as tape:
        cost = PRIORS[prior][0](tfd.Independent(family(*variables), 1))
    for gradient in tape.gradient(cost, variables):
        assert np.all(np.isfinite(gradient))
        assert np.any(gradient != 0)


@pytest.mark.parametrize("prior", ["half_cauchy", "log_normal"])
@pytest.mark.parametrize(
    "posterior", ["trainable_multivariate_normal", "trainable_normal", "trainable_cauchy"]
)
def test_positive_prior_of_weights_on_the_whole_line_is_an_error(posterior, prior):
    layer = ed.layers.DenseReparameterization(
        2, kernel_initializer=posterior, kernel_regularizer=f"{prior}_kl_divergence"
    )
    layer.build([None, 3])
    with pytest.raises(
        ValueError, match="is infinite, because the prior allows no negative"
    ):
        _ = layer.losses
