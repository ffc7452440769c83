"""Tests of agents.planet.model.sizes."""

import dataclasses

import pytest

from agents.planet.model.sizes import LEFT_TO_TASK, for_task
from agents.runs.config import overrides

DEFAULT = overrides.load([]).world_model
UNITS = ("belief_size", "hidden_size", "embedding_size", "reward_units")


@pytest.mark.parametrize(
    ("observation", "action", "units"),
    [(1, 1, 64), (4, 4, 64), (5, 4, 68), (17, 6, 124), (36, 6, 200), (67, 21, 200)],
)
def test_sizes_follow_the_numbers_of_observation_and_action(observation, action, units):
    found = for_task(DEFAULT, observation, action)
    assert [getattr(found, name) for name in UNITS] == [units] * 4
    assert found.latent_size == units // 4


@pytest.mark.parametrize(
    ("observation", "stddev"), [(1, 0.03), (4, 0.06), (16, 0.12), (25, 0.15), (78, 0.15)]
)
def test_all_numbers_of_an_observation_are_as_precise_together_up_to_25(
    observation, stddev
):
    found = for_task(DEFAULT, observation, 1).observation_stddev
    assert found == pytest.approx(stddev)


def test_what_is_set_stays():
    settings = dataclasses.replace(
        DEFAULT, belief_size=3, latent_size=5, observation_stddev=0.4
    )
    found = for_task(settings, 17, 6)
    assert (found.belief_size, found.latent_size, found.hidden_size) == (3, 5, 124)
    assert found.observation_stddev == 0.4
    rest = {name: None for name in LEFT_TO_TASK}
    assert dataclasses.replace(found, **rest) == DEFAULT
