"""Tests of agents.planet.model.latents."""

import numpy as np
import tensorflow as tf
from scipy import stats

from agents.planet.model.latents import Latent, above_free_nats, gaussian

LATENT = Latent(
    belief=tf.constant([[1.0, 2.0]]),
    mean=tf.constant([[0.5, -1.0, 0.0]]),
    stddev=tf.constant([[0.1, 2.0, 1.0]]),
    sample=tf.constant([[3.0, 4.0, 5.0]]),
)


def test_features_are_sample_and_belief():
    np.testing.assert_array_equal(LATENT.features, [[3.0, 4.0, 5.0, 1.0, 2.0]])


def test_gaussian_is_normal_in_each_dimension():
    expected = stats.norm(LATENT.mean, LATENT.stddev).logpdf(LATENT.sample).sum(-1)
    np.testing.assert_allclose(
        gaussian(LATENT).log_prob(LATENT.sample), expected, rtol=1e-5
    )


def test_only_nats_above_the_free_ones_cost():
    np.testing.assert_allclose(
        above_free_nats(tf.constant([0.5, 3.0, 4.5]), 3.0), [0.0, 0.0, 1.5]
    )
