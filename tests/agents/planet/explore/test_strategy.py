"""Tests of agents.planet.explore.strategy: what all strategies make of a plan's end."""

import numpy as np
import pytest
import tensorflow as tf

from agents.planet.explore import STRATEGIES
from agents.planet.explore.strategy import Elapsed, anneal, balance, returns
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


def test_score_is_that_of_the_formula():
    random = np.random.default_rng(0)
    returns, bonus = random.normal(3.0, 2.0, [2, 2, 40])
    found = balance(tf.constant(returns), tf.constant(bonus), beta=0.7, return_floor=0.3)
    r, u = (each - each.mean(1, keepdims=True) for each in (returns, bonus))
    floor = 0.01 * np.abs(bonus).mean(1, keepdims=True)
    expected = r / (r.std(1, keepdims=True) + 0.3)
    expected += 0.7 * u / (u.std(1, keepdims=True) + floor)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_neither_the_unit_of_the_bonus_nor_what_all_plans_share_counts():
    random = np.random.default_rng(1)
    returns, bonus = tf.constant(random.uniform(size=[2, 1, 40]))
    scores = balance(returns, bonus, 1.0, 0.3)
    np.testing.assert_allclose(balance(returns, 1e3 * bonus, 1.0, 0.3), scores, rtol=1e-6)
    np.testing.assert_allclose(balance(returns + 7, bonus, 1.0, 0.3), scores, rtol=1e-6)


def test_what_lies_beyond_the_horizon_raises_no_floor():
    """A value that all plans share changes no score; what differs counts as a bonus."""
    random = np.random.default_rng(2)
    returns, bonus, more = tf.constant(random.uniform(size=[3, 1, 40]))
    scores = balance(returns, bonus, 1.0, 0.3)
    beyond = balance(returns, bonus, 1.0, 0.3, 1000.0)
    np.testing.assert_allclose(beyond, scores, rtol=1e-6)
    both = balance(returns, bonus + more, 1.0, 0.3)
    np.testing.assert_allclose(balance(returns, bonus, 1.0, 0.3, more), both, atol=0.05)


def test_equal_plans_get_equal_scores_without_a_floor_too():
    same = tf.fill([1, 5], 2.0)
    assert not np.any(balance(same, same, beta=1.0, return_floor=0.0))
    assert not np.any(balance(same, 0.0 * same, beta=1.0, return_floor=0.0))


def test_a_weight_stays_at_its_last_value():
    found = [float(anneal(2.0, 0.0, (x, 0.5))) for x in (0.0, 0.25, 0.5, 1.0)]
    assert found == [2, 1, 0, 0]


def test_a_weight_goes_on_with_the_phase_that_is_furthest():
    phases = [((1, 10), (30, 100)), ((5, 10), (0, 100)), ((5, None), (20, 100))]
    found = [float(anneal(1.0, 0.0, *each)) for each in phases]
    assert found == pytest.approx([0.7, 0.5, 0.8])


def test_a_weight_without_phases_stays():
    assert float(anneal(2.0, 0.0, (5, None))) == 2.0


def test_a_weight_without_an_end_stays():
    assert [float(anneal(2.0, None, (x, 0.5))) for x in (0.0, 0.5, 1.0)] == [2, 2, 2]
