"""Tests of agents.planet.explore.balance."""

import numpy as np
import pytest
import tensorflow as tf

from agents.planet.explore.balance import anneal, balance


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
