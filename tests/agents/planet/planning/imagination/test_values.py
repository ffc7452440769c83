"""Tests of agents.planet.planning.imagination: what the last latents of plans are worth."""

import numpy as np
import pytest
import tensorflow as tf

from agents.planet.planning.imagination import TRAJECTORIES, imagine_with_draws
from agents.system.seeds import split
from tests.agents.planet.planning.imagination.following import (
    CANDIDATES,
    DRAWS,
    ENVIRONMENTS,
    HORIZON,
    draw_of,
    follow,
    one,
)


class Sum:
    """What a state is worth: the sum of its features."""

    discount, return_lambda = 0.9, 1.0
    value = staticmethod(lambda features: tf.reduce_sum(features, -1))
    novelty = staticmethod(lambda features: 7.0 * tf.reduce_sum(features, -1))


def assert_values(rollout, draw, b, n, model, latents):
    """The value is that of the last latent, discounted and if it is reached."""
    share = 1.0
    for now, latent in enumerate(latents[1:]):
        np.testing.assert_allclose(rollout.reached[draw, b, n, now], share, rtol=1e-4)
        share *= 0.9 * float(model.continuation(latent.features)[0])
    expected = share * np.sum(latents[-1].features)
    np.testing.assert_allclose(rollout.value[draw, b, n], expected, rtol=1e-3, atol=1e-4)


def test_each_draw_values_its_own_last_latent(model, start, plans, normal, draws):
    rollout = imagine_with_draws(model, start, plans, normal, draws, DRAWS, value=Sum())
    assert rollout.value.shape == (DRAWS, ENVIRONMENTS, CANDIDATES)
    for s, (b, n) in ((0, (0, 0)), (2, (0, 1)), (1, (1, 0))):
        weights = draw_of(draws, b, s)
        latents = follow(model, weights, one(start, b), plans[b, n], normal[b, n])
        assert_values(rollout, s, b, n, model, latents)
    assert np.std(rollout.value, axis=0).min() > 1e-5, "draws share a value"


@pytest.mark.parametrize("name", TRAJECTORIES)
def test_every_trajectory_values_its_last_latent(name, model, start, plans, normal, draws):
    plans, normal = (tf.tile(x, [1, DRAWS, 1, 1]) for x in (plans, normal))
    seeds = split([3, 4], ENVIRONMENTS)
    given = (model, start, plans, normal, draws, DRAWS, seeds)
    rollout, plain = (TRAJECTORIES[name](*given, value=v) for v in (Sum(), None))
    for field in ("reward", "mean", "stddev"):
        np.testing.assert_array_equal(getattr(rollout, field), getattr(plain, field))
    assert rollout.value.shape == plain.value.shape == rollout.reward.shape[:3]
    np.testing.assert_array_equal(plain.value, np.zeros(plain.value.shape))
    discounts = 0.9 ** np.arange(HORIZON)
    np.testing.assert_allclose(rollout.reached, discounts * plain.reached, rtol=1e-4)
    assert np.abs(rollout.value).min() > 0
    np.testing.assert_allclose(rollout.novelty, 7.0 * rollout.value, rtol=1e-5)
    np.testing.assert_array_equal(plain.novelty, np.zeros(plain.value.shape))


def test_on_a_shared_trajectory_and_under_the_mean_the_mean_weights_value(
    model, start, plans, normal, draws
):
    given = (model, start, plans, normal, draws, DRAWS)
    mean, shared = (TRAJECTORIES[n](*given, value=Sum()) for n in ("mean", "shared"))
    np.testing.assert_allclose(shared.value, mean.value, rtol=1e-4, atol=1e-5)
    for b, n in ((0, 1), (1, 0)):
        weights = model.central_weights()
        latents = follow(model, weights, one(start, b), plans[b, n], normal[b, n])
        assert_values(mean, 0, b, n, model, latents)
