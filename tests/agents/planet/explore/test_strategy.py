"""Tests of agents.planet.explore.strategy: what all strategies make of a plan's end."""

import numpy as np
import pytest
import tensorflow as tf

from agents.planet.explore import STRATEGIES
from agents.planet.explore.strategy import Elapsed, returns
from agents.planet.planning.rollouts import Rollout
from tests.agents.presets import preset

DRAWS = {name: preset("explore", name).draws for name in STRATEGIES}


def make(draws, noise, **changes):
    """A rollout of two environments, four plans and three steps."""
    draws = max(draws, 1)
    rollout = Rollout(
        reward=noise(draws, 2, 4, 3),
        mean=noise(draws, 2, 4, 3, 2, seed=1),
        stddev=tf.exp(noise(draws, 2, 4, 3, 2, seed=2)),
        reached=tf.ones([draws, 2, 4, 3]),
        value=noise(draws, 2, 4, seed=3),
    )
    return rollout._replace(**changes)


def test_returns_are_the_rewards_that_are_reached_and_the_value_after_them(noise):
    reached = tf.constant([1.0, 0.5, 0.0])
    rollout = make(2, noise, reached=reached)
    expected = np.sum(rollout.reward * reached, -1) + rollout.value
    np.testing.assert_allclose(returns(rollout), expected, rtol=1e-5)


@pytest.mark.parametrize("name", STRATEGIES)
def test_the_value_counts_like_a_last_reward(name, noise):
    rollout, strategy = make(DRAWS[name], noise), preset("explore", name)
    last = rollout.reward + rollout.value[..., tf.newaxis] * tf.constant([0.0, 0.0, 1.0])
    expected = strategy(rollout._replace(reward=last, value=0.0), Elapsed())
    found = strategy(rollout, Elapsed())
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
    without = strategy(rollout._replace(value=0.0), Elapsed())
    assert np.abs(found - without).min() > 1e-4
