import math

import pytest
import tensorflow as tf

import bayes_rl as ed
from tests.bayes_rl.training import stripes, train

VALUES = 4
SIZE = 16


@pytest.mark.slow
def test_figure_7_learns():
    images, labels = stripes(SIZE, count=16)
    features = images * tf.cast(1 + labels, tf.float32)[:, None, None, None]
    encoder, decoder = ed.models.build_vae(
        [SIZE, SIZE, 1], depth=8, code_size=4, kernel_size=2, num_values=VALUES
    )

    def loss_fn():
        encoding = encoder(features)
        # The figure lacks the sign, and adds arrays of different shapes.
        nll = -decoder(encoding).distribution.log_prob(features)
        kl = encoding.distribution.kl_divergence(ed.Normal(0.0, 1.0))
        axes = [1, 2, 3]
        return tf.reduce_mean(tf.reduce_sum(nll, axes) + tf.reduce_sum(kl, axes))

    losses = train(loss_fn, [encoder, decoder], steps=150, learning_rate=0.003)
    # What is known without a code: half of the pixels are 0, a quarter 1, a quarter 2.
    entropy = SIZE**2 * 1.5 * math.log(2)
    assert losses.after < 0.75 * min(losses.before, entropy)
