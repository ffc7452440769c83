"""Tests of agents.episodes.measures."""

import numpy as np

from agents.episodes.measures import (
    agent_steps,
    cost,
    environment_steps,
    episode_return,
    nonzero_rewards,
)

EPISODE = {"reward": np.array([0.0, 1.0, 0.5, 2.0], np.float32)}


def test_return_is_the_sum_of_rewards():
    assert episode_return(EPISODE) == 3.5


def test_cost_is_told_by_the_episode_or_by_its_negative_rewards():
    assert cost(EPISODE) == 0
    assert cost({"reward": np.array([0.0, -1.0, 3.0, -0.5])}) == 1.5
    assert cost(EPISODE | {"cost": np.float64(0.7)}) == 0.7


def test_costs_are_rewards_other_than_zero():
    assert nonzero_rewards({"reward": np.array([0.0, -1.0, 3.0, 0.0])}) == 2


def test_what_actions_cost_is_no_reward_of_the_task():
    assert nonzero_rewards(EPISODE | {"rewards": np.int64(1)}) == 1


def test_the_first_row_took_no_action():
    assert agent_steps(EPISODE) == 3


def test_physics_steps_are_told_by_the_episode_or_counted_in_full():
    assert environment_steps(EPISODE, action_repeat=4) == 12
    assert environment_steps(EPISODE | {"environment_steps": np.int64(10)}, 4) == 10
