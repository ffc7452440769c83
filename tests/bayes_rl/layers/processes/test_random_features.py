import numpy as np
import pytest
import tensorflow as tf

from bayes_rl.layers.processes.random_features import RandomFeatures, StandardCauchy

INPUTS = np.random.default_rng(0).normal(size=[6, 3]).astype("float32")
DIFFERENCE = INPUTS[:, None] - INPUTS[None]
COUNT = 50_000


@pytest.mark.parametrize("lengthscale", [1.0, 2.0])
@pytest.mark.parametrize("kernel_type", ["gaussian", "laplacian"])
def test_products_approximate_the_covariance(kernel_type, lengthscale):
    tf.keras.utils.set_random_seed(0)
    features = RandomFeatures(COUNT, lengthscale, kernel_type)(INPUTS).numpy()
    expected = (
        np.exp(-0.5 * np.sum(DIFFERENCE**2, -1) / lengthscale**2)
        if kernel_type == "gaussian"
        else np.exp(-np.sum(abs(DIFFERENCE), -1) / lengthscale)
    )
    # A product of two features, 2 cos(a) cos(b), lies in [-2, 2] with variance below 3/2.
    assert np.all(abs(features @ features.T - expected) < 5 * np.sqrt(1.5 / COUNT))


def test_orthogonal_frequencies_have_smaller_errors():
    inputs = tf.constant(INPUTS)
    expected = np.exp(-0.5 * np.sum(DIFFERENCE**2, -1))

    def error(initializer, seed):
        tf.keras.utils.set_random_seed(seed)
        features = RandomFeatures(30, frequencies_initializer=initializer)(inputs)
        return np.mean((features @ tf.transpose(features) - expected) ** 2)

    independent = [error(None, seed) for seed in range(40)]
    orthogonal = [error("orthogonal_random_features", seed) for seed in range(40)]
    assert np.mean(orthogonal) < np.mean(independent)


def test_far_inputs_keep_their_phases_in_half_precision():
    policy = tf.keras.mixed_precision.Policy("mixed_float16")
    features = RandomFeatures(16, dtype=policy)
    near = features(1000.0 + INPUTS)
    assert near.dtype == tf.float32
    assert np.mean(near != features(1000.1 + INPUTS)) > 0.9


def test_standard_cauchy_has_its_quartiles():
    values = StandardCauchy(seed=1)([100_000]).numpy()
    quartiles = np.quantile(values, [0.25, 0.5, 0.75])
    np.testing.assert_allclose(quartiles, [-1, 0, 1], atol=0.03)


def test_errors():
    with pytest.raises(ValueError, match="kernel_type must be one of .* got 'matern'"):
        RandomFeatures(3, kernel_type="matern")
    with pytest.raises(ValueError, match="num_features must be at least 1, got 0"):
        RandomFeatures(0)
