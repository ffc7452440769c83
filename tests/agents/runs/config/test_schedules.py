"""Tests of agents.runs.config.schedules."""

import re

import pytest

from agents.runs.config import overrides
from agents.system.errors import UserError


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["explore=thompson", "action_noise.final_stddev=0"],
            "action_noise.final_stddev=0 is never reached: action_noise.steps must be",
        ),
        (
            ["explore=thompson", "action_noise.steps=1000"],
            "action_noise.steps=1000 changes nothing: action_noise.final_stddev must be a "
            "number, got null",
        ),
        (
            ["noise_ladder=2", "actors=1"],
            "noise_ladder=2 changes nothing: actors must be at least 2, got 1",
        ),
        (
            ["explore=disagreement", "explore.annealing_steps=500"],
            "explore.annealing_steps=500 changes nothing: explore.final_beta must be a",
        ),
        (
            ["explore=pessimistic", "explore.final_beta=0"],
            "explore.final_beta=0 is never reached: explore.annealing_steps must be",
        ),
        (
            ["explore=disagreement", "explore.annealing_rewards=9"],
            "explore.annealing_rewards=9 changes nothing: explore.final_beta must",
        ),
        (
            ["explore=information_gain_annealed", "explore.reward_from=500"],
            "explore.annealing_rewards must be null if explore.reward_from is above 0, got "
            "100: after so many rewards plans would seek nothing until step 500",
        ),
        (
            [
                "explore=information_gain_annealed",
                "explore.annealing_rewards=null",
                "explore.reward_from=10_001",
            ],
            "explore.reward_from must be at most explore.annealing_steps=10000, got 10001: "
            "plans would seek nothing between them",
        ),
        (
            ["explore.reward_from=500"],
            "explore.bonus_from must be 0 if explore.reward_from is above 0, got 25000: "
            "plans would seek nothing before step 500; explore=information_gain has 0",
        ),
        (
            ["explore.bonus_from=100_000"],
            "explore.bonus_from must be below explore.annealing_steps=100000, got 100000: "
            "the bonus would never count",
        ),
        (
            ["explore=information_gain", "explore.beta=0", "explore.reward_from=1000"],
            "explore.beta must be above 0, got 0: the bonus would never count; ",
        ),
    ],
)
def test_half_a_schedule_is_refused(words, message):
    with pytest.raises(UserError, match=re.escape(message)):
        overrides.load(words)


def test_rewards_may_be_sought_from_where_the_bonus_ends_on():
    words = ["explore.annealing_rewards=null", "explore.reward_from=10_000"]
    config = overrides.load(["explore=information_gain_annealed", *words])
    assert config.explore.reward_from == config.explore.annealing_steps


def test_one_phase_is_enough():
    words = ["explore.annealing_steps=null", "explore.annealing_rewards=9"]
    config = overrides.load(["explore=information_gain_annealed", *words])
    assert config.explore.annealing_steps is None
