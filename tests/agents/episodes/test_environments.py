"""Tests of agents.episodes.environments."""

import dataclasses

import numpy as np
import pytest

from agents.episodes.environments import (
    COLLECTION,
    EVALUATION,
    environment_seed,
    load_environments,
)
from agents.system.errors import UserError


def test_purposes_and_runs_have_seeds_of_their_own():
    seeds = {environment_seed(s, p) for s in range(5) for p in (COLLECTION, EVALUATION)}
    assert len(seeds) == 10
    assert environment_seed(3, EVALUATION) == environment_seed(3, EVALUATION)


def starts(config, purpose, **settings):
    environment = load_environments(config, 2, purpose, **settings)
    start = environment.reset().observation["observation"]
    environment.close()
    return start


def test_environments_are_those_of_the_config(make_config):
    environment = load_environments(make_config("action_repeat=4"), 2, COLLECTION)
    assert environment.batch_size == 2
    assert environment.action_repeat == 4
    environment.close()


def test_what_a_task_does_not_offer_is_a_mistake_of_the_user(make_config):
    config = dataclasses.replace(make_config(), task="gym:No-v9")
    with pytest.raises(UserError, match="^task 'gym:No-v9' is not registered"):
        load_environments(config, 1, COLLECTION)


def test_starts_depend_on_seed_purpose_and_episode(make_config):
    first = starts(make_config(), COLLECTION)
    np.testing.assert_array_equal(first, starts(make_config(), COLLECTION))
    for other in (
        starts(make_config("seed=1"), COLLECTION),
        starts(make_config(), EVALUATION),
        starts(make_config(), COLLECTION, first_episodes=[2, 3]),
    ):
        assert not np.any(first[:, 0] == other[:, 0])
