import numpy as np
import pytest
import tensorflow as tf

import bayes_rl as ed

GENERATOR = np.random.default_rng(0)
DATA = GENERATOR.normal(size=[40, 6])
LOGITS = GENERATOR.normal(size=[40, 1])
TEST = GENERATOR.normal(size=[5, 6])
WEIGHTS = {
    "gaussian": np.ones([40, 1]),
    "binary_logistic": np.exp(-LOGITS) / (1 + np.exp(-LOGITS)) ** 2,
    "poisson": np.exp(LOGITS),
}


def make(momentum=0.0, ridge_penalty=0.3, **kwargs):
    return ed.layers.LaplaceRandomFeatureCovariance(
        momentum, ridge_penalty, dtype="float64", **kwargs
    )


def expected(precision, ridge_penalty=0.3):
    return ridge_penalty * TEST @ np.linalg.inv(precision) @ TEST.T


@pytest.mark.parametrize("likelihood", WEIGHTS)
def test_covariance_after_one_pass_is_the_exact_inverse(likelihood):
    layer = make(likelihood=likelihood)
    for start in (0, 10, 25):
        part = slice(start, {0: 10, 10: 25, 25: 40}[start])
        null = layer(DATA[part], logits=LOGITS[part], training=True)
        np.testing.assert_array_equal(null, np.eye(len(DATA[part])))
    precision = 0.3 * np.eye(6) + (WEIGHTS[likelihood] * DATA).T @ DATA
    np.testing.assert_allclose(layer(TEST), expected(precision), rtol=1e-9)


def test_is_that_of_a_gaussian_process_with_the_features_products():
    layer = make()
    layer(DATA, training=True)
    gram = DATA @ DATA.T + 0.3 * np.eye(40)
    cross = TEST @ DATA.T
    exact = TEST @ TEST.T - cross @ np.linalg.solve(gram, cross.T)
    np.testing.assert_allclose(layer(TEST), exact, rtol=1e-8)


def test_momentum_averages_batches_and_keeps_the_ridge():
    layer = make(momentum=0.6)
    average = np.zeros([6, 6])
    for start in range(0, 40, 10):
        batch = DATA[start : start + 10]
        layer(batch, training=True)
        average = 0.6 * average + 0.4 * batch.T @ batch / 10
    np.testing.assert_allclose(layer(TEST), expected(0.3 * np.eye(6) + average), rtol=1e-9)
    for _ in range(50):
        layer(np.zeros([1, 6]), training=True)
    np.testing.assert_allclose(layer(TEST), TEST @ TEST.T, rtol=1e-6)


def test_stored_inverse_gives_the_same_until_more_data_come():
    layer = make()
    layer(DATA[:20], training=True)
    fresh = layer(TEST)
    layer.update_feature_covariance_matrix()
    assert layer.is_current == 1.0
    np.testing.assert_allclose(layer(TEST), fresh, rtol=1e-9)
    layer(DATA[20:], training=True)
    assert layer.is_current == 0.0
    precision = 0.3 * np.eye(6) + DATA.T @ DATA
    np.testing.assert_allclose(layer(TEST), expected(precision), rtol=1e-9)


def test_reset_forgets_the_data():
    layer = make()
    layer(DATA, training=True)
    layer.reset_precision_matrix()
    np.testing.assert_allclose(layer(TEST), TEST @ TEST.T, rtol=1e-9)


def test_small_ridge_in_float32():
    layer = ed.layers.LaplaceRandomFeatureCovariance(momentum=0.0, ridge_penalty=1e-6)
    layer(DATA.astype("float32"), training=True)
    covariance = layer(TEST.astype("float32"))
    precision = 1e-6 * np.eye(6) + DATA.T @ DATA
    np.testing.assert_allclose(covariance, expected(precision, 1e-6), rtol=1e-3)


@pytest.mark.parametrize("momentum", [0.0, 0.9])
def test_replicas_share_what_they_see(momentum, two_devices):
    single = make(momentum)
    if momentum:
        single(DATA[:20], training=True)
    else:
        for part in (DATA[:20], DATA[:20]):
            single(part, training=True)
    with two_devices.scope():
        layer = make(momentum)
        layer.build([None, 6])
    two_devices.run(tf.function(lambda: layer(DATA[:20], training=True)))
    np.testing.assert_allclose(layer.precision_matrix, single.precision_matrix, rtol=1e-9)
    layer.reset_precision_matrix()
    cleared = layer.precision_matrix.numpy()
    two_devices.run(tf.function(layer.reset_precision_matrix))
    np.testing.assert_allclose(cleared, layer.ridge_penalty * np.eye(6))
    np.testing.assert_allclose(layer.precision_matrix, cleared)


def test_errors():
    with pytest.raises(ValueError, match="likelihood must be one of .* got 'probit'"):
        make(likelihood="probit")
    with pytest.raises(ValueError, match="ridge_penalty must not be negative, got -1"):
        make(ridge_penalty=-1)
    with pytest.raises(ValueError, match="momentum must be below 1, got 1"):
        make(momentum=1)
    with pytest.raises(ValueError, match="'poisson' needs logits, got none"):
        make(likelihood="poisson")(DATA, training=True)
    with pytest.raises(ValueError, match=r"logits of one output, .* got shape \(40, 2\)"):
        make(likelihood="poisson")(DATA, logits=np.ones([40, 2]), training=True)


def test_without_ridge_the_covariance_is_zero():
    layer = make(ridge_penalty=0.0)
    layer(TEST, training=True)
    np.testing.assert_array_equal(layer(TEST, training=False), np.zeros([len(TEST)] * 2))


@pytest.mark.parametrize("momentum", [0.0, 0.6])
def test_empty_batch_changes_nothing(momentum):
    layer = make(momentum)
    layer(DATA, training=True)
    before = layer.precision_matrix.numpy()
    assert layer(DATA[:0], training=True).shape == [0, 0]
    np.testing.assert_array_equal(layer.precision_matrix, before)
