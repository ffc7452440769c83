"""Tests of agents.planet.planning.imagination, against one step at a time."""

import numpy as np
import tensorflow as tf

from agents.planet.model.rssm import Latent
from agents.planet.planning.imagination import expect_next
from bayes_rl.weights import hold

DRAWS = 3


def test_each_draw_predicts_each_step_from_the_same_latent(model, noise):
    features, action = noise(2, 4, 9), noise(2, 4, 1, seed=1)
    weights = model.draw_weights(DRAWS, tf.constant([0, 1]))
    found = expect_next(model, features, action, weights, DRAWS)
    assert found.mean.shape == found.stddev.shape == (DRAWS, 2, 4, 3)
    for draw, row, step in ((0, 0, 0), (2, 1, 3), (1, 0, 2)):
        sample, belief = features[row, step, :3], features[row, step, 3:]
        start = Latent(*(x[tf.newaxis] for x in (belief, sample, sample, sample)))
        with hold(model, {name: value[draw] for name, value in weights.items()}):
            after = model.rssm.imagine_step(start, action[row, step][tf.newaxis], 0.0)
        for name in ("mean", "stddev"):
            np.testing.assert_allclose(
                getattr(found, name)[draw, row, step],
                getattr(after, name)[0],
                rtol=1e-4,
                atol=1e-6,
            )
    assert np.ptp(found.mean, axis=0).min() > 0


def test_one_draw_of_a_deterministic_model_is_what_it_imagines(make_model, noise):
    model = make_model("transition=deterministic", "value.target_draws=1")
    features, action = noise(2, 4, 9), noise(2, 4, 1, seed=1)
    found = expect_next(model, features, action, model.draw_weights(1, [0, 1]), 1)
    sample, belief = features[1, 2, :3], features[1, 2, 3:]
    start = Latent(*(x[tf.newaxis] for x in (belief, sample, sample, sample)))
    after = model.rssm.imagine_step(start, action[1, 2][tf.newaxis], 0.0)
    np.testing.assert_allclose(found.mean[0, 1, 2], after.mean[0], rtol=1e-4, atol=1e-6)
