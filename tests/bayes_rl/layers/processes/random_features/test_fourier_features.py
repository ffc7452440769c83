import numpy as np
import pytest
import tensorflow as tf
import tensorflow_probability as tfp

import bayes_rl as ed
from bayes_rl.layers.processes.random_features.fourier_features import (
    RandomFeatures,
    StandardCauchy,
)

POINTS = np.random.default_rng(0).normal(size=[6, 3]).astype("float32")
DIFFERENCE = POINTS[:, None] - POINTS[None]
COUNT = 50_000


@pytest.mark.parametrize("lengthscale", [1.0, 2.0])
@pytest.mark.parametrize("kernel_type", ["gaussian", "laplacian"])
def test_products_approximate_the_covariance(kernel_type, lengthscale):
    tf.keras.utils.set_random_seed(0)
    features = RandomFeatures(COUNT, lengthscale, kernel_type)(POINTS).numpy()
    expected = (
        np.exp(-0.5 * np.sum(DIFFERENCE**2, -1) / lengthscale**2)
        if kernel_type == "gaussian"
        else np.exp(-np.sum(abs(DIFFERENCE), -1) / lengthscale)
    )
    # A product of two features, 2 cos(a) cos(b), lies in [-2, 2] with variance below 3/2.
    assert np.all(abs(features @ features.T - expected) < 5 * np.sqrt(1.5 / COUNT))


def test_frequencies_can_be_orthogonal():
    layer = RandomFeatures(30, frequencies_initializer="orthogonal_random_features")
    layer.build([None, 3])
    for block in np.split(layer.frequencies.numpy(), 10, axis=1):
        gram = block.T @ block
        np.testing.assert_allclose(gram, np.diag(np.diag(gram)), atol=1e-4)


def test_orthogonal_frequencies_have_smaller_errors_of_covariances_nearby():
    difference = 0.5 * np.random.default_rng(0).normal(size=[20, 8])
    expected = np.exp(-0.5 * np.sum(difference**2, -1))

    def error(initializer, seed):
        tf.keras.utils.set_random_seed(seed)
        layer = RandomFeatures(32, frequencies_initializer=initializer)
        layer.build([None, 8])
        found = np.mean(np.cos(difference @ layer.frequencies), -1)  # over all phases
        return np.mean((found - expected) ** 2)

    independent = [error(None, seed) for seed in range(20)]
    orthogonal = [error("orthogonal_random_features", seed) for seed in range(20)]
    margin = 3 * np.hypot(np.std(independent), np.std(orthogonal)) / np.sqrt(20)
    assert np.mean(orthogonal) < np.mean(independent) - margin


def test_far_inputs_keep_their_phases_in_half_precision():
    policy = tf.keras.mixed_precision.Policy("mixed_float16")
    features = RandomFeatures(16, dtype=policy)
    near = features(1000.0 + POINTS)
    assert near.dtype == tf.float32
    assert np.mean(near != features(1000.1 + POINTS)) > 0.9


def test_standard_cauchy_has_its_quartiles():
    values = StandardCauchy(seed=1)([100_000]).numpy()
    quartiles = np.quantile(values, [0.25, 0.5, 0.75])
    np.testing.assert_allclose(quartiles, [-1, 0, 1], atol=0.03)


def test_errors():
    with pytest.raises(ValueError, match="kernel_type must be one of .* got 'matern'"):
        RandomFeatures(3, kernel_type="matern")
    with pytest.raises(ValueError, match="num_features must be at least 1, got 0"):
        RandomFeatures(0)


INPUTS = np.random.default_rng(0).normal(size=[5, 2]).astype("float32")


def standard_normal():
    return ed.initializers.TrainableNormal(
        mean_initializer="zeros", stddev_initializer="ones", stddev_constraint=None
    )


def test_draws_of_the_prior_have_the_covariance_of_the_process():
    tf.keras.utils.set_random_seed(0)
    count, features = 4_000, 1_000
    layer = ed.layers.RandomFourierFeatures(
        count, features, 2.0, 0.7, kernel_initializer=standard_normal()
    )
    values = layer(INPUTS).numpy()
    process = ed.layers.GaussianProcess(1, None, ed.layers.ExponentiatedQuadratic(2.0, 0.7))
    expected = process(INPUTS).covariance()[0].numpy()
    standard_error = 2.0 * np.sqrt(2 / count + 1.5 / features)
    assert np.all(abs(values @ values.T / count - expected) < 5 * standard_error)
    np.testing.assert_allclose(layer.losses[0], 0.0, atol=1e-3)


def test_cost_is_the_kl_of_the_kernel():
    layer = ed.layers.RandomFourierFeatures(3, 8)
    layer(INPUTS)
    mean, stddev = layer.kernel.mean(), layer.kernel.stddev()
    kl = -np.log(stddev) + 0.5 * (stddev**2 + mean**2) - 0.5
    np.testing.assert_allclose(layer.losses[0], np.sum(kl), rtol=1e-5)


def test_held_kernel_is_one_function():
    layer = ed.layers.RandomFourierFeatures(3, 8)
    layer.build([None, 2])
    with ed.hold(layer, ed.sample_weights(layer, seed=1)):
        whole = layer(INPUTS)
        parts = tf.concat([layer(INPUTS[:2]), layer(INPUTS[2:])], 0)
    np.testing.assert_allclose(parts, whole, rtol=1e-5)
    assert np.any(layer(INPUTS) != whole)


def test_variance_and_lengthscale_can_be_trained():
    positive = tfp.bijectors.Softplus()
    layer = ed.layers.RandomFourierFeatures(
        3,
        8,
        variance=tfp.util.TransformedVariable(2.0, positive),
        lengthscale=tfp.util.TransformedVariable(0.5, positive),
    )
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(layer(INPUTS) ** 2)
    assert len(layer.trainable_weights) == 4
    assert all(np.any(x != 0) for x in tape.gradient(loss, layer.trainable_weights))
    copy = ed.layers.RandomFourierFeatures.from_config(layer.get_config())
    copy.build([None, 2])
    assert len(copy.trainable_weights) == 4


def test_regression():
    tf.keras.utils.set_random_seed(0)
    layer = ed.layers.RandomFourierFeatures(1, 64)
    inputs = np.linspace(-1.0, 1.0, 50, dtype="float32")[:, None]
    targets = np.sin(3 * inputs)
    optimizer = tf.keras.optimizers.Adam(0.05)

    @tf.function(autograph=False)
    def step():
        with tf.GradientTape() as tape:
            error = tf.reduce_sum(tf.square(targets - layer(inputs)))
            loss = error / (2 * 0.1**2) + layer.losses[0]
        gradients = tape.gradient(loss, layer.trainable_weights)
        optimizer.apply_gradients(zip(gradients, layer.trainable_weights, strict=True))

    for _ in range(300):
        step()
    with ed.hold(layer, ed.mean_weights(layer)):
        error = np.mean(np.square(layer(inputs) - targets))
    assert error < 0.4 * np.var(targets)


@pytest.mark.parametrize("value", [0, -1.0, np.array([1.0, 0.0])])
@pytest.mark.parametrize("name", ["variance", "lengthscale"])
def test_parameters_that_are_not_above_zero_are_errors(name, value):
    with pytest.raises(ValueError, match=f"{name} must be above 0, got"):
        ed.layers.RandomFourierFeatures(1, 8, **{name: value})


def test_units_below_one_is_an_error():
    with pytest.raises(ValueError, match="units must be at least 1, got 0"):
        ed.layers.RandomFourierFeatures(0)
