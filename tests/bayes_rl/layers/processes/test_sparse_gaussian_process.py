import numpy as np
import pytest
import tensorflow as tf
import tensorflow_probability as tfp
from tensorflow_probability import distributions as tfd

import bayes_rl as ed

UNITS, INDUCING = 3, 6
GENERATOR = np.random.default_rng(0)
ANCHORS = GENERATOR.normal(size=[INDUCING, 2])
POINTS = GENERATOR.normal(size=[5, 2])
TARGETS = GENERATOR.normal(size=[5, UNITS])
MEAN = GENERATOR.normal(size=[INDUCING, UNITS])
STDDEV = GENERATOR.uniform(0.3, 1.2, size=[INDUCING, UNITS])
TRIANGLES = np.tril(GENERATOR.uniform(0.3, 1.0, size=[UNITS, INDUCING, INDUCING]))


def slope(inputs):
    return inputs[..., 0]


def make(full=False, **kwargs):
    layer = ed.layers.SparseGaussianProcess(
        UNITS,
        INDUCING,
        mean_fn=slope,
        covariance_fn=ed.layers.ExponentiatedQuadratic(2.0, 0.7),
        inducing_outputs_initializer=(
            "trainable_multivariate_normal" if full else "trainable_normal"
        ),
        dtype="float64",
        name="process",
        **kwargs,
    )
    layer.build([None, 2])
    layer.inducing_inputs.assign(ANCHORS)
    initializer = layer.stochastic_weights["inducing_outputs"].initializer
    initializer.stddev_constraint = None
    initializer.mean.assign(MEAN)
    if full:
        initializer.stddev.assign(tfp.math.fill_triangular_inverse(TRIANGLES))
    else:
        initializer.stddev.assign(STDDEV)
    return layer


def oracle(full):
    """TFP's process with a mean of its own for the inducing outputs' whitening."""
    kernel = tfp.math.psd_kernels.ExponentiatedQuadratic(
        np.sqrt(np.float64(2.0)), np.float64(0.7)
    )
    triangles = TRIANGLES if full else np.stack([np.diag(x) for x in STDDEV.T])
    factor = np.linalg.cholesky(kernel.matrix(ANCHORS, ANCHORS) + 2e-8 * np.eye(INDUCING))
    return tfd.VariationalGaussianProcess(
        kernel,
        index_points=POINTS,
        inducing_index_points=ANCHORS,
        variational_inducing_observations_loc=slope(ANCHORS) + MEAN.T @ factor.T,
        variational_inducing_observations_scale=factor @ triangles,
        mean_fn=slope,
        observation_noise_variance=np.float64(0.3),
        predictive_noise_variance=np.float64(0.0),
        jitter=np.float64(2e-8),
    )


@pytest.mark.parametrize("full", [False, True])
def test_mean_covariance_and_kl_are_those_of_tfp(full):
    layer, columns = make(full), oracle(full)
    outputs = layer(tf.constant(POINTS))
    np.testing.assert_allclose(outputs.mean(), columns.mean().numpy().T, rtol=1e-4)
    np.testing.assert_allclose(outputs.variance(), columns.variance().numpy().T, rtol=1e-4)
    np.testing.assert_allclose(
        outputs.covariance(), columns.covariance(), rtol=1e-4, atol=1e-7
    )
    expected = tf.reduce_sum(columns.surrogate_posterior_kl_divergence_prior())
    np.testing.assert_allclose(layer.losses[0], expected, rtol=1e-4)


@pytest.mark.parametrize("full", [False, True])
def test_evidence_bound_is_that_of_tfp(full):
    layer, columns = make(full), oracle(full)
    outputs = layer(tf.constant(POINTS))
    likelihood = tfd.Normal(outputs.mean(), np.sqrt(0.3)).log_prob(TARGETS)
    expected_likelihood = likelihood - outputs.variance() / (2 * 0.3)
    loss = -tf.reduce_sum(expected_likelihood) + layer.losses[0]
    expected = tf.reduce_sum(columns.variational_loss(TARGETS.T, POINTS))
    np.testing.assert_allclose(loss, expected, rtol=1e-4)


def test_standard_normal_inducing_outputs_are_the_prior():
    layer = make()
    initializer = layer.stochastic_weights["inducing_outputs"].initializer
    initializer.mean.assign(tf.zeros_like(MEAN))
    initializer.stddev.assign(tf.ones_like(STDDEV))
    prior = ed.layers.GaussianProcess(
        UNITS, slope, ed.layers.ExponentiatedQuadratic(2.0, 0.7), dtype="float64"
    )
    ours, theirs = (process(tf.constant(POINTS)) for process in (layer, prior))
    np.testing.assert_allclose(ours.mean(), theirs.mean(), rtol=1e-9)
    np.testing.assert_allclose(ours.covariance(), theirs.covariance(), atol=1e-9)
    np.testing.assert_allclose(layer.losses[0], 0.0, atol=1e-12)


@pytest.mark.parametrize("full", [False, True])
def test_draws_have_the_moments_of_the_posterior(full):
    outputs = make(full)(tf.constant(POINTS))
    count = 20_000
    draws = outputs.distribution.sample(count, seed=[1, 2]).numpy()
    variance = outputs.variance().numpy()
    assert np.all(abs(draws.mean(0) - outputs.mean()) < 5 * np.sqrt(variance / count))
    np.testing.assert_allclose(draws.var(0), variance, rtol=5 * np.sqrt(2 / count))


def test_held_inducing_outputs_are_one_function():
    layer = make()
    weights = ed.sample_weights(layer, [4], seed=1)
    assert weights["process/inducing_outputs"].shape == [4, INDUCING, UNITS]
    inputs = tf.constant(POINTS)
    with ed.hold(layer, weights):
        together = layer(inputs)
        parts = tf.concat([layer(inputs[:2]), layer(inputs[2:])], axis=1)
        own_inputs = layer(tf.stack([inputs, inputs + 1, inputs, inputs]))
    np.testing.assert_array_equal(together, together.mean())
    np.testing.assert_allclose(together, parts, rtol=1e-9)
    np.testing.assert_allclose(own_inputs[0], together[0], rtol=1e-9)
    assert not np.any(np.isclose(own_inputs[1], together[1]))
    kernel = layer.covariance_fn
    factor = np.linalg.cholesky(
        kernel(tf.constant(ANCHORS), tf.constant(ANCHORS)) + 2e-8 * np.eye(INDUCING)
    )
    cross = kernel(tf.constant(ANCHORS), inputs).numpy()
    values = weights["process/inducing_outputs"].numpy()
    expected = POINTS[:, :1] + (np.linalg.solve(factor, cross).T @ values)
    np.testing.assert_allclose(together, expected, rtol=1e-6)


def test_average_over_held_draws_has_the_moments_of_the_marginal():
    layer = make()
    count = 20_000
    with ed.hold(layer, ed.sample_weights(layer, [count], seed=1)):
        given = layer(tf.constant(POINTS))
        means, residual = given.mean().numpy(), given.variance().numpy()
    outputs = layer(tf.constant(POINTS))
    variance = means.var(0) + residual[0]
    np.testing.assert_allclose(variance, outputs.variance(), rtol=5 * np.sqrt(2 / count))
    standard_error = outputs.stddev() / np.sqrt(count)
    assert np.all(abs(means.mean(0) - outputs.mean()) < 5 * standard_error)


def test_traced_inducing_outputs_and_outputs_have_names():
    layer = make()
    with ed.tape() as tape:
        layer(tf.constant(POINTS))
    assert list(tape) == ["process/inducing_outputs", "process"]
    with ed.condition(**{"process/inducing_outputs": MEAN}):
        first, second = layer(tf.constant(POINTS)), layer(tf.constant(POINTS))
    np.testing.assert_array_equal(first.mean(), second.mean())
    assert np.all(first.value != second.value)


def test_close_inducing_inputs_in_float32_train():
    layer = ed.layers.SparseGaussianProcess(2, num_inducing=50)
    inputs = tf.linspace(0.0, 1.0, 50)[:, None]
    layer.build(inputs.shape)
    layer.inducing_inputs.assign(inputs)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(layer(inputs)) + layer.losses[0]
    gradients = tape.gradient(loss, layer.trainable_weights)
    assert all(np.all(np.isfinite(gradient)) for gradient in gradients)
    assert np.isfinite(loss)


def test_posteriors_that_are_not_normal_are_drawn():
    for initializer in ("trainable_deterministic", "glorot_uniform"):
        layer = ed.layers.SparseGaussianProcess(
            2,
            4,
            inducing_outputs_initializer=initializer,
            inducing_outputs_regularizer=None,
        )
        assert layer(tf.ones([5, 3])).shape == [5, 2]


def test_errors():
    with pytest.raises(ValueError, match="num_inducing must be at least 1, got 0"):
        ed.layers.SparseGaussianProcess(1, 0)
    layer = make()
    with (
        ed.hold(layer, ed.sample_weights(layer, [4], seed=1)),
        pytest.raises(ValueError, match="4 draws of the weights are held"),
    ):
        layer(tf.ones([3, 5, 2], tf.float64))


@pytest.mark.parametrize("kind", ["trainable_normal", "trainable_multivariate_normal"])
def test_outputs_leave_a_function_with_their_distribution(kind):
    layer = ed.layers.SparseGaussianProcess(2, 3, inducing_outputs_initializer=kind)
    inputs = tf.constant([[0.0], [1.0]])
    ours, expected = tf.function(layer)(inputs), layer(inputs)
    for moment in ("mean", "stddev", "covariance"):
        found, wanted = (getattr(x, moment)() for x in (ours, expected))
        np.testing.assert_allclose(found, wanted, rtol=1e-5)
    value = tf.zeros([2, 2])
    np.testing.assert_allclose(ours.log_prob(value), expected.log_prob(value), rtol=1e-5)
