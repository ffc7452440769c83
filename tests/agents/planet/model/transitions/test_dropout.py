"""Tests of dropout with held masks, in closed form."""

import types

import numpy as np
import pytest
import tensorflow as tf

from agents.planet.model.transitions import make_source
from bayes_rl.weights import hold, posteriors

RATE, PRIOR, UNITS, DRAWS = 0.2, 0.5, 50, 400
SETTINGS = types.SimpleNamespace(dropout_rate=RATE, prior_scale=PRIOR)


@pytest.fixture(scope="module")
def source():
    return make_source("dropout", SETTINGS)


@pytest.fixture(scope="module")
def layer(source):
    layer = source.dense(UNITS, "relu", "layer")
    layer.build([None, 3])
    return layer


@pytest.fixture(scope="module")
def masks(source, layer):
    return source.draw(layer, DRAWS, tf.constant([0, 1]))["layer/mask"].numpy()


def test_units_are_dropped_at_the_rate_and_others_make_up_for_it(masks):
    assert set(np.unique(masks)) == {np.float32(0.0), np.float32(1 / (1 - RATE))}
    error = np.sqrt(RATE * (1 - RATE) / masks.size)
    assert abs(np.mean(masks == 0) - RATE) < 4 * error


def test_units_are_dropped_independently(masks):
    correlations = np.corrcoef(masks.T)[np.triu_indices(UNITS, 1)]
    assert abs(correlations.mean()) < 0.01
    assert correlations.std() == pytest.approx(1 / np.sqrt(DRAWS), rel=0.15)


def test_mean_and_spread_are_those_of_a_scaled_coin(layer):
    posterior = posteriors(layer)["layer/mask"]
    np.testing.assert_allclose(posterior.mean(), np.ones(UNITS), rtol=1e-6)
    expected = np.full(UNITS, np.sqrt(RATE / (1 - RATE)))
    np.testing.assert_allclose(posterior.stddev(), expected, rtol=1e-5)


def test_a_held_mask_drops_the_same_units_of_all_inputs(source, layer, masks):
    inputs = tf.random.stateless_normal([6, 3], [0, 1])
    whole = np.maximum(inputs @ layer.kernel, 0.0)
    for given in (inputs, tf.repeat(inputs[tf.newaxis], DRAWS, 0)):
        with hold(layer, {"layer/mask": masks}):
            outputs = layer(given)
        np.testing.assert_allclose(outputs, whole * masks[:, None], rtol=1e-4, atol=1e-6)
    with hold(layer, source.central(layer)):
        np.testing.assert_allclose(layer(inputs), whole, rtol=1e-4, atol=1e-6)


def test_the_kl_grows_with_the_squares_of_kernel_and_bias(source):
    layer = source.dense(2, "relu", "layer")
    layer.build([None, 1])
    layer.kernel.assign([[3.0, 0.0]])
    layer.bias.assign([0.0, 4.0])
    (cost,) = source.costs(layer).values()
    assert float(cost) == pytest.approx((9 + 16) / (2 * (1 - RATE) * PRIOR**2), rel=1e-6)


def test_nothing_of_a_prediction_is_dropped(make_model):
    names = set(posteriors(make_model("transition=dropout")))
    assert names == {"transition_input/mask", "transition_hidden/mask"}
