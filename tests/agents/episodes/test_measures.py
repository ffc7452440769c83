"""Tests of agents.episodes.measures."""

import numpy as np

from agents.episodes.measures import agent_steps, episode_return

EPISODE = {"reward": np.array([0.0, 1.0, 0.5, 2.0], np.float32)}


def test_return_is_the_sum_of_rewards():
    assert episode_return(EPISODE) == 3.5


def test_the_first_row_took_no_action():
    assert agent_steps(EPISODE) == 3
