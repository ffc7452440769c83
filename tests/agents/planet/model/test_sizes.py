"""Tests of agents.planet.model.sizes."""

import dataclasses

import pytest

from agents.planet.model.sizes import with_sizes
from agents.runs.config import overrides

DEFAULT = overrides.load([]).world_model
UNITS = ("belief_size", "hidden_size", "embedding_size", "reward_units")


@pytest.mark.parametrize(
    ("observation", "action", "units"),
    [(1, 1, 64), (4, 4, 64), (5, 4, 68), (17, 6, 124), (36, 6, 200), (67, 21, 200)],
)
def test_sizes_follow_the_numbers_of_observation_and_action(observation, action, units):
    found = with_sizes(DEFAULT, observation, action)
    assert [getattr(found, name) for name in UNITS] == [units] * 4
    assert found.latent_size == units // 4


def test_sizes_that_are_set_stay():
    settings = dataclasses.replace(DEFAULT, belief_size=3, latent_size=5)
    found = with_sizes(settings, 17, 6)
    assert (found.belief_size, found.latent_size, found.hidden_size) == (3, 5, 124)
    rest = {name: None for name in (*UNITS, "latent_size")}
    assert dataclasses.replace(found, **rest) == DEFAULT
