import numpy as np
import pytest
import tensorflow as tf

import bayes_rl as ed
from bayes_rl.layers import MADE, RealNVP
from tests.bayes_rl.training import train

BATCH, SIZE = 64, 4


@pytest.fixture(scope="module")
def features():
    """Correlated values of different scales [BATCH, SIZE]."""
    noise = tf.random.stateless_normal([BATCH, SIZE], [0, 1])
    mixing = tf.constant(np.tril(np.full([SIZE, SIZE], 0.8)), tf.float32)
    return 0.5 * noise @ mixing + 2.0


def test_figure_8_learns(features):
    model = tf.keras.Sequential(
        [
            RealNVP(MADE(hidden_dims=[16, 16])),
            RealNVP(MADE(hidden_dims=[16, 16], order="right-to-left")),
            RealNVP(MADE(hidden_dims=[16, 16])),
        ]
    )

    def loss_fn():
        base = ed.Normal(loc=tf.zeros([BATCH, SIZE]), scale=1.0)
        outputs = model(base)
        return -tf.reduce_sum(outputs.distribution.log_prob(features)) / BATCH

    losses = train(loss_fn, [model], steps=150, learning_rate=0.01, draws=1)
    # No density has a loss below the entropy of the data, but for chance.
    entropy = SIZE * (np.log(0.5 * 0.8) + 0.5 * np.log(2.0 * np.pi * np.e))
    assert entropy - 0.5 < losses.after < entropy + 1.0 < losses.before


def test_model_is_that_of_figure_8(features):
    model = ed.models.build_masked_autoregressive_flow([16, 16])
    orders = [flow.layer.input_order for flow in model.layers]
    assert orders == ["left-to-right", "right-to-left", "left-to-right"]
    outputs = model(ed.Normal(tf.zeros([BATCH, SIZE]), 1.0))
    value = outputs.log_prob(features)
    for flow in reversed(model.layers):
        features = flow.reverse(features)
    # Flows start without scale, so the density is that of the base.
    expected = tf.reduce_sum(ed.Normal(0.0, 1.0).distribution.log_prob(features), axis=-1)
    np.testing.assert_allclose(value, expected, rtol=1e-5)
