"""Tests of agents.episodes.rewards: tasks whose rewards are smooth, costs, or given."""

import numpy as np
import pytest

from agents.episodes.rewards import Found, RewardsFound


def found_in(*episodes, largest=0.0):
    found = RewardsFound(largest)
    for rewards in episodes:
        found.add({"reward": np.array([0.0, *rewards], np.float32)})
    return found


@pytest.mark.parametrize(
    ("rewards", "expected"),
    [
        ([0.0, 1.0, 1.0, 0.0, 1.0], Found(0, 3)),
        ([1.0, 1.0, 0.0, 0.0], Found(2, 0)),
        ([1.0, 0.0, 1.0], Found(1, 1)),
        ([1.0, 1.0], Found(2, 0)),
        ([0.0, 0.0], Found(0, 0)),
        ([-1.0, -0.1, -1.0], Found(0, 0)),
        ([], Found(0, 0)),
    ],
)
def test_an_episode_reaches_reward_from_a_step_without(rewards, expected):
    assert found_in(rewards).newest == expected


def test_the_tail_of_a_smooth_reward_is_none():
    tail = [4e-12] * 250  # of acrobot_swingup, half of all random steps
    assert found_in(tail, tail, largest=4.0).count == 0
    assert found_in([*tail, 0.5, 0.5], tail).count == 5


def test_costs_are_none_and_a_goal_beside_them_is_one():
    costs = list(-0.1 * np.random.default_rng(0).random(999))
    assert found_in(costs, costs).count == 0
    assert found_in(costs, [*costs[:500], 100.0 - 0.05]).count == 5


def test_a_larger_reward_makes_smaller_ones_worth_nothing_from_the_first_on():
    assert found_in([0.0, 1e-9, 2e-9], [0.0, 3e-9]).count == 10
    assert found_in([0.0, 1e-9, 2e-9], [0.0, 3e-9], [0.0, 1.0], [0.0]).count == 2


def test_rewards_of_one_size_count_whatever_it_is():
    for size in (1e-6, 1.0, 1e6):
        assert found_in([0.0, size, size / 50]).newest == Found(0, 2)


def test_few_episodes_that_start_at_the_target_end_no_search():
    away, at_target = [0.0] * 100, [1.0] * 100
    assert found_in(*[away] * 8, at_target, at_target).count == 0
    assert found_in(*[away] * 8, at_target, [0.0, 1.0, 1.0]).count == 1


def test_where_most_episodes_start_with_reward_it_is_not_rare():
    assert found_in([1.0] * 50, [1.0] * 30 + [0.0], [0.0] * 9).count == 6
    came_too = [0.0, 1.0]
    assert found_in([1.0] * 50, [1.0], [1.0, 0.0, 1.0], came_too, [0.0]).count == 8


def test_an_episode_counts_once_however_many_rewards_it_brings():
    came = [0.0, 1.0], [0.0] + [1.0] * 99, [0.0, 1.0, 0.0, 1.0]
    assert found_in(*came, *[[0.0]] * 7).count == 3


def test_the_last_ten_episodes_count():
    came, failed = [0.0, 1.0], [0.0, 0.0]
    assert found_in(*[came] * 10, *[failed] * 3).count == 7
    assert found_in(*[failed] * 20, *[came] * 9).count == 9
    assert found_in().count == 0  # nothing is found yet
