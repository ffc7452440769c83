import numpy as np
import pytest
import scipy.stats
import tensorflow as tf

from bayes_rl import initializers


@pytest.mark.parametrize(
    ("mode", "fan"), [("fan_in", 36), ("fan_out", 72), ("fan_avg", 54)]
)
def test_fan_of_a_convolution_counts_its_window(mode, fan):
    initializer = initializers.ScaledNormalStdDev(mode=mode, distribution="constant")
    np.testing.assert_allclose(initializer([3, 3, 4, 8]), fan**-0.5, rtol=1e-6)


def test_spread_of_scaled_stddev_is_a_tenth():
    values = initializers.ScaledNormalStdDev()([100, 100]).numpy()
    np.testing.assert_allclose(values.mean(), 0.1, rtol=0.01)
    assert 0.005 < values.std() < 0.011


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"scale": 0.0}, "scale must be above 0, got 0.0"),
        ({"mode": "fan"}, "mode must be one of .* got 'fan'"),
        ({"distribution": "normal"}, "distribution must be one of .* got 'normal'"),
    ],
)
def test_wrong_arguments_are_errors(arguments, message):
    with pytest.raises(ValueError, match=message):
        initializers.ScaledNormalStdDev(**arguments)


@pytest.mark.parametrize("probs", [0.0, 0.3, 1.0])
def test_share_of_ones(probs):
    signs = initializers.RandomSign(probs, seed=1)([100, 100]).numpy()
    assert set(np.unique(signs)) <= {-1.0, 1.0}
    tolerance = 5 * np.sqrt(probs * (1 - probs) / 10_000)
    assert abs(np.mean(signs == 1.0) - probs) <= tolerance


def test_seed_and_type():
    first, second = (initializers.RandomSign(0.5, seed=1)([50]) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    assert np.any(first != initializers.RandomSign(0.5, seed=2)([50]))
    unseeded = initializers.RandomSign(0.5)
    assert np.any(unseeded([50]) != unseeded([50]))
    assert initializers.RandomSign(dtype="float64")([2]).dtype == "float64"
    assert initializers.RandomSign()([2], dtype="float16").dtype == "float16"


def test_no_probability_is_an_error():
    with pytest.raises(ValueError, match="probs must be between 0 and 1, got 2"):
        initializers.RandomSign(2)


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


def test_wrong_directions_are_errors():
    with pytest.raises(ValueError, match="stddev must be above 0, got 0"):
        initializers.OrthogonalRandomFeatures(0)
    with pytest.raises(ValueError, match=r"must be \[inputs, features\], got \[3\]"):
        initializers.OrthogonalRandomFeatures()([3])


@pytest.mark.parametrize("seed", [None, 1])
def test_experts_have_the_variance_of_their_own_fans_and_differ(seed):
    shared = tf.keras.initializers.HeNormal(seed=seed)
    initialize = initializers.get_condconv_initializer(shared, 3, [3, 3, 20, 30])
    experts = initialize([3, 3 * 3 * 20 * 30]).numpy()
    np.testing.assert_allclose(experts.var(1), 2 / 180, rtol=0.1)
    correlations = np.corrcoef(experts) - np.eye(3)
    assert np.all(abs(correlations) < 5 / np.sqrt(5400))
    assert np.all(initialize([3, 5400]) == experts) == (seed is not None)


def test_another_shape_is_an_error():
    initialize = initializers.get_condconv_initializer(tf.keras.initializers.Ones(), 3, [2])
    with pytest.raises(ValueError, match=r"shape \[2\] have shape \[3, 2\], got \[2, 3\]"):
        initialize([2, 3])
