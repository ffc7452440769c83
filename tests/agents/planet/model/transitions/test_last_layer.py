"""Tests of the posterior over the last layer alone."""

import numpy as np
import pytest
import tensorflow as tf

from agents.planet.model.latents import Latent
from bayes_rl.weights import hold, posteriors


@pytest.fixture(scope="module")
def model(make_model):
    return make_model("transition=last_layer")


def test_only_the_last_kernel_is_uncertain(model, make_model):
    (name,) = posteriors(model)
    assert name == "transition_latent/kernel"
    other = posteriors(make_model("transition=reparameterization"))[name]
    np.testing.assert_allclose(posteriors(model)[name].stddev(), other.stddev())


def test_draws_share_the_belief_and_differ_in_what_they_say_of_it(model, noise):
    alike = [tf.repeat(noise(1, 2, size), 3, axis=0) for size in (6, 3, 3, 3, 1)]
    with hold(model, model.draw_weights(3, tf.constant([0, 1]))):
        after = model.rssm.imagine_step(Latent(*alike[:4]), alike[4], 0.0)
    assert np.ptp(after.belief, axis=0).max() < 1e-6
    assert np.ptp(after.mean, axis=0).min() > 1e-4
