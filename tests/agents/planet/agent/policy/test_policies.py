"""Tests of agents.planet.agent.policy."""

import dataclasses

import numpy as np
import pytest

from agents.planet.explore import Greedy, InformationGain
from tests.agents.presets import preset


@pytest.fixture(scope="module")
def policies(build_agent):
    words = ["explore=information_gain", "value=td", "actors=3", "latents=means"]
    return build_agent(*words).policies


def test_one_exploits_and_one_explores(policies):
    exploiting, exploring = policies.exploiting(), policies.exploring()
    assert exploiting.strategy == Greedy()
    assert isinstance(exploring.strategy, InformationGain)
    assert exploiting.parts.noise is None
    assert exploring.parts.noise.stddev == 0.3
    assert (exploiting.parts.latents, exploring.parts.latents) == ("means", "samples")
    assert (exploiting.parts.sharers, exploring.parts.sharers) == (1, 3)


def test_a_policy_that_makes_no_plans_scores_none(policies):
    pessimistic = preset("exploit", "pessimistic")
    judged = dataclasses.replace(policies, exploit=pessimistic)
    assert judged.exploiting().strategy == pessimistic
    assert judged.exploiting("policy").strategy == Greedy()


def test_they_have_names_and_random_numbers_of_their_own(policies):
    exploiting, exploring = policies.exploiting(), policies.exploring()
    assert (exploiting.name, exploring.name) == ("policy", "collect_policy")
    assert not np.array_equal(exploiting._seed, exploring._seed)
    other = dataclasses.replace(policies, seed=1).exploiting()
    assert not np.array_equal(exploiting._seed, other._seed)


def test_one_may_act_otherwise_or_by_another_planner(policies):
    assert policies.exploiting().parts.act == "plan"
    assert policies.exploiting("policy").parts.act == "policy"
    planner = preset("planner", "cem", horizon=2)
    assert policies.exploiting()._planner != planner
    assert dataclasses.replace(policies, planner=planner).exploiting()._planner == planner
