import math

import numpy as np
import pytest
import tensorflow as tf

import bayes_rl as ed
from tests.bayes_rl.training import stripes, train

SIZE = 16
SMALL = {"base_depth": 8, "latent_size": 2, "num_codes": 16, "kernel_size": 2}
BLIND = math.log(2)  # of a pixel without a code, as half of them are 1


def used_codes(encoder, features):
    rows = tf.reshape(tf.convert_to_tensor(encoder(features)), [-1, 8]).numpy()
    return len(np.unique(rows.round(4), axis=0))


@pytest.mark.slow
def test_figure_17_learns():
    features, _ = stripes(SIZE, count=16)
    encoder, decoder = ed.models.build_vector_quantized_vae(1, **SMALL)

    def loss_fn():
        encoded_features = encoder(features)
        reconstruction = -decoder(encoded_features).distribution.log_prob(features)
        penalties = sum(encoder.losses)
        return tf.reduce_mean(reconstruction + penalties)

    losses = train(loss_fn, [encoder, decoder], steps=200, learning_rate=0.003)
    assert losses.after < 0.6 * min(losses.before, BLIND)
    assert 2 <= used_codes(encoder, features) <= 16


@pytest.mark.slow
def test_figure_9_of_the_workshop_paper_learns_with_random_codes():
    features, _ = stripes(SIZE, count=16)
    encoder, decoder = ed.models.build_vector_quantized_vae(1, stochastic=True, **SMALL)

    def loss_fn():
        encoded_features = encoder(features)
        # Summed over an image and its codes, so that the two add up.
        reconstruction = decoder(encoded_features).distribution.log_prob(features)
        reconstruction = tf.reduce_sum(reconstruction, axis=[1, 2, 3])
        entropy = tf.reduce_sum(encoded_features.distribution.entropy(), axis=[1, 2])
        # The figure lacks the sign: this is the negative evidence lower bound.
        return -tf.reduce_mean(reconstruction + entropy)

    losses = train(loss_fn, [encoder, decoder], steps=200, learning_rate=0.003)
    assert losses.after < 0.4 * min(losses.before, SIZE**2 * BLIND)
