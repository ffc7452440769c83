import math

import numpy as np
import pytest
import tensorflow as tf

import bayes_rl as ed
from bayes_rl import layers
from tests.bayes_rl.training import stripes, train

VALUES = 4


@pytest.fixture(scope="module")
def images():
    """Images [8, 4, 4, 3] of values 0 to VALUES - 1."""
    found, labels = stripes(4, count=8, channels=3)
    return 2.0 * found + tf.cast(labels, tf.float32)[:, None, None, None]


@pytest.fixture
def transformer():
    # Arguments in place of the figure's `hparams`.
    return ed.models.build_image_transformer(
        [4, 4, 3],
        hidden_size=16,
        num_layers=1,
        num_heads=2,
        filter_size=16,
        block_length=12,
        num_values=VALUES,
    )


@pytest.mark.slow
def test_figure_16_learns(transformer, images):
    def loss_fn():
        # The figure's values are 0 to 255; ours are scaled, see the model.
        values = images / (0.5 * (VALUES - 1)) - 1.0
        return -tf.reduce_mean(transformer(images).distribution.log_prob(values))

    losses = train(loss_fn, [transformer], steps=60, learning_rate=0.01)
    assert losses.after < 0.6 * min(losses.before, math.log(VALUES))


def test_no_value_depends_on_later_ones(transformer, images):
    position = 20
    flat = tf.reshape(images, [8, 48]).numpy()
    flat[:, position:] = VALUES - 1 - flat[:, position:]
    changed = tf.reshape(flat, [8, 4, 4, 3])
    before, after = (
        tf.reshape(transformer(x).mean(), [8, 48]).numpy() for x in (images, changed)
    )
    np.testing.assert_allclose(before[:, : position + 1], after[:, : position + 1])
    assert np.all(np.abs(before - after)[:, position + 1] > 1e-6)


def test_lines_of_figure_6_run_as_printed(images):
    inputs = x = tf.keras.layers.Input([48, 8])
    x = layers.MixtureofLogistic(3, num_components=5)(x)
    x = layers.Discretize(x)
    model = tf.keras.Model(inputs=inputs, outputs=x, name="ImageTransformer")
    output = model(tf.ones([2, 48, 8]))
    total = tf.reduce_sum(output.distribution.prob(output))
    assert output.shape == [2, 48, 3]
    assert 0.0 < total < 2 * 48 * 3
