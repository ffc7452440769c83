import numpy as np
import pytest
import tensorflow as tf
from tensorflow_probability import distributions as tfd

from bayes_rl.random_variables.columns import MultivariateNormalColumns

ROWS, COLUMNS, LATENTS = 4, 3, 2
GENERATOR = np.random.default_rng(0)
LOC = GENERATOR.normal(size=[ROWS, COLUMNS])
ROOT = GENERATOR.normal(size=[ROWS, ROWS])
COVARIANCE = ROOT @ ROOT.T
PROJECTION = GENERATOR.normal(size=[ROWS, LATENTS])
SCALE_DIAG = GENERATOR.uniform(0.5, 1.5, size=[LATENTS, COLUMNS])
SCALE_TRIL = np.tril(GENERATOR.uniform(0.5, 1.5, size=[COLUMNS, LATENTS, LATENTS]))
OWN_TRIL = np.tril(GENERATOR.uniform(0.5, 1.5, size=[COLUMNS, ROWS, ROWS]))


def own_covariance(scale):
    spread = PROJECTION @ scale
    return spread @ spread.transpose(0, 2, 1)


FORMS = {
    "shared": (dict(shared=COVARIANCE), np.stack([COVARIANCE] * COLUMNS)),
    "diagonal": (
        dict(shared=COVARIANCE, projection=PROJECTION, scale_diag=SCALE_DIAG),
        COVARIANCE + own_covariance(np.stack([np.diag(x) for x in SCALE_DIAG.T])),
    ),
    "triangular": (
        dict(shared=COVARIANCE, projection=PROJECTION, scale_tril=SCALE_TRIL),
        COVARIANCE + own_covariance(SCALE_TRIL),
    ),
    "own": (dict(scale_tril=OWN_TRIL), OWN_TRIL @ OWN_TRIL.transpose(0, 2, 1)),
}


@pytest.fixture(params=FORMS)
def form(request):
    arguments, covariance = FORMS[request.param]
    arguments = {name: tf.constant(value) for name, value in arguments.items()}
    ours = MultivariateNormalColumns(tf.constant(LOC), **arguments, jitter=1e-12)
    return ours, tfd.MultivariateNormalFullCovariance(LOC.T, covariance)


def test_moments_density_and_entropy_are_those_of_separate_columns(form):
    ours, columns = form
    assert ours.event_shape == [ROWS, COLUMNS]
    assert ours.batch_shape == []
    np.testing.assert_allclose(ours.mean(), LOC)
    np.testing.assert_allclose(ours.covariance(), columns.covariance(), rtol=1e-9)
    np.testing.assert_allclose(ours.variance(), columns.variance().numpy().T, rtol=1e-9)
    np.testing.assert_allclose(ours.stddev(), columns.stddev().numpy().T, rtol=1e-9)
    value = GENERATOR.normal(size=[5, ROWS, COLUMNS])
    expected = tf.reduce_sum(columns.log_prob(value.transpose(0, 2, 1)), -1)
    np.testing.assert_allclose(ours.log_prob(value), expected, rtol=1e-8)
    np.testing.assert_allclose(ours.entropy(), tf.reduce_sum(columns.entropy()), rtol=1e-8)


def test_draws_have_the_covariance(form):
    ours, _ = form
    count = 20_000
    draws = ours.sample(count, seed=[1, 2]).numpy()
    centered = (draws - LOC).transpose(2, 1, 0)
    covariance = ours.covariance().numpy()
    estimate = centered @ centered.transpose(0, 2, 1) / count
    diagonal = np.diagonal(covariance, axis1=1, axis2=2)
    outer = diagonal[:, :, None] * diagonal[:, None, :]
    standard_error = np.sqrt((outer + covariance**2) / count)
    assert np.all(abs(estimate - covariance) < 5 * standard_error)
    assert np.all(abs(draws.mean(0) - LOC) < 5 * np.sqrt(diagonal.T / count))
    independent = centered[0] @ centered[1].T / count
    assert np.all(
        abs(independent) < 5 * np.sqrt(np.outer(diagonal[0], diagonal[1]) / count)
    )


def test_same_seed_gives_the_same_draw(form):
    ours, _ = form
    np.testing.assert_array_equal(ours.sample(seed=[1, 2]), ours.sample(seed=[1, 2]))
    assert np.all(ours.sample() != ours.sample())
    assert np.all(np.isfinite(ours.sample(seed=3)))


def test_kl_is_the_sum_of_those_of_the_columns(form):
    ours, columns = form
    other = MultivariateNormalColumns(
        tf.zeros([ROWS, COLUMNS], tf.float64), tf.eye(ROWS, dtype=tf.float64)
    )
    standard = tfd.MultivariateNormalFullCovariance(
        np.zeros([COLUMNS, ROWS]), (1 + 1e-6) * np.eye(ROWS)
    )
    expected = tf.reduce_sum(tfd.kl_divergence(columns, standard))
    np.testing.assert_allclose(ours.kl_divergence(other), expected, rtol=1e-8)


def test_kl_to_a_factorized_normal_prior(form):
    ours, columns = form
    mean, stddev = 0.3 * LOC, np.exp(0.2 * LOC)
    prior = tfd.Independent(tfd.Normal(mean, stddev), 2)
    expected = tfd.kl_divergence(columns, tfd.MultivariateNormalDiag(mean.T, stddev.T))
    np.testing.assert_allclose(
        tfd.kl_divergence(ours, prior), tf.reduce_sum(expected), rtol=1e-8
    )


def test_batches_and_type_of_draws():
    loc = tf.zeros([7, ROWS, COLUMNS], tf.float64)
    ours = MultivariateNormalColumns(loc, tf.constant(COVARIANCE), dtype=tf.float16)
    assert ours.batch_shape == [7]
    draw = ours.sample(2)
    assert draw.shape == [2, 7, ROWS, COLUMNS]
    assert draw.dtype == tf.float16
    assert ours.log_prob(draw).shape == [2, 7]
    moments = ours.mean(), ours.stddev(), ours.covariance(), ours.log_prob(draw)
    assert {moment.dtype for moment in moments} == {tf.float32}
    assert ours.covariance().shape == [7, COLUMNS, ROWS, ROWS]
    assert ours.entropy().shape == [7]


def test_variance_is_not_negative_by_rounding():
    ours = MultivariateNormalColumns(tf.zeros([1, 1]), tf.constant([[-1e-17]]))
    assert np.all(ours.stddev() == 0.0)


def test_number_of_scales_is_checked():
    with pytest.raises(ValueError, match="give a shared covariance, .* got none"):
        MultivariateNormalColumns(LOC)
    with pytest.raises(ValueError, match="scale_diag or scale_tril, not both"):
        MultivariateNormalColumns(LOC, scale_diag=SCALE_DIAG, scale_tril=SCALE_TRIL)


def test_kl_to_another_family_says_so():
    prior = tfd.Independent(tfd.Laplace(tf.zeros([2, 1]), 1.0), 2)
    ours = MultivariateNormalColumns(tf.zeros([2, 1]), tf.eye(2))
    with pytest.raises(NotImplementedError, match="no closed form .* to Laplace"):
        tfd.kl_divergence(ours, prior)
