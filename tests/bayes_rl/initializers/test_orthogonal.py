import numpy as np
import pytest
import scipy.stats

from bayes_rl import initializers


def test_features_of_a_block_are_orthogonal_and_cut_at_the_end():
    initializer = initializers.OrthogonalRandomFeatures(2.0, random_norm=False)
    matrix = initializer([4, 10]).numpy()
    assert matrix.shape == (4, 10)
    products = matrix.T @ matrix
    for block in (slice(0, 4), slice(4, 8), slice(8, 10)):
        size = block.stop - block.start
        np.testing.assert_allclose(products[block, block], 16 * np.eye(size), atol=1e-4)
    assert np.any(abs(products[:4, 4:8]) > 0.1)


def test_each_element_is_normal():
    initializer = initializers.OrthogonalRandomFeatures(2.0, seed=1)
    matrix = np.array(initializer([4, 4000])).reshape(4, 1000, 4)
    for row in range(4):
        values = matrix[row, :, 0]  # one of each block is independent of the others
        assert scipy.stats.kstest(values, scipy.stats.norm(0, 2).cdf).pvalue > 1e-4


def test_kernel_estimate_varies_less_than_with_independent_features():
    x = np.array([0.5, -0.3, 0.8, 0.1])
    generator = np.random.default_rng(0)
    ours, independent = [], []
    for seed in range(300):
        matrix = np.array(initializers.OrthogonalRandomFeatures(seed=seed)([4, 16]))
        ours.append(np.cos(x @ matrix).mean())
        independent.append(np.cos(x @ generator.normal(size=[4, 16])).mean())
    expected = np.exp(-0.5 * x @ x)
    assert abs(np.mean(ours) - expected) < 5 * np.std(ours) / np.sqrt(300)
    assert np.var(ours) < 0.7 * np.var(independent)


def test_seed_and_configuration():
    initializer = initializers.OrthogonalRandomFeatures(0.5, True, seed=3)
    copy = initializers.deserialize(initializers.serialize(initializer))
    np.testing.assert_array_equal(initializer([3, 5]), copy([3, 5]))
    unseeded = initializers.OrthogonalRandomFeatures()
    assert np.all(np.array(unseeded([3, 5])) != unseeded([3, 5]))
    assert initializer([3, 5], dtype="float64").dtype == "float64"


def test_wrong_arguments_are_errors():
    with pytest.raises(ValueError, match="stddev must be above 0, got 0"):
        initializers.OrthogonalRandomFeatures(0)
    with pytest.raises(ValueError, match=r"must be \[inputs, features\], got \[3\]"):
        initializers.OrthogonalRandomFeatures()([3])
