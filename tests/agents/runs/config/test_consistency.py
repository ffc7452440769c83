"""Tests of agents.runs.config.consistency."""

import re

import pytest

from agents.runs.config import overrides
from agents.system.errors import UserError


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["explore=thompson", "transition=deterministic"],
            "transition=deterministic has no draws, but explore strategy Thompson "
            "needs 1: add explore=noise, or choose another transition",
        ),
        (
            ["explore=conditional_value_at_risk", "explore.alpha=0.05"],
            "explore.draws must be at least 1 / alpha (20), got 10",
        ),
    ],
)
def test_strategy_that_cannot_have_its_draws_is_refused(words, message):
    with pytest.raises(UserError, match=re.escape(message)):
        overrides.load(words)


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("kl_weight=0", "kl_weight must be above 0 with transition=ivon, got 0"),
        ("kl_weight_warmup=9", "kl_weight_warmup must be 0 with transition=ivon, which"),
    ],
)
def test_a_weight_of_the_kl_without_which_ivon_has_no_posterior_is_refused(word, message):
    with pytest.raises(UserError, match=re.escape(message)):
        overrides.load(["transition=ivon", word])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["exploit=pessimistic", "transition=deterministic", "explore=noise"],
            "transition=deterministic has no draws, but exploit strategy UpperConfidence "
            "needs 5: choose another transition",
        ),
        (
            ["value.target_draws=3", "transition=deterministic", "explore=noise"],
            "transition=deterministic has no draws, but value.target_draws needs 3: choose "
            "another transition, or at most 1 of them",
        ),
        (
            ["value.target_draws=1", "value.pessimism=2"],
            "value.pessimism=2 changes nothing: value.target_draws must be at least",
        ),
        (
            ["exploit=pessimistic", "exploit.final_beta=0"],
            "exploit.final_beta must be null, got 0.0: evaluation uses the same rule",
        ),
        (
            ["exploit=uncertainty_penalty", "exploit.critic=true"],
            "exploit.critic must be false, got True",
        ),
        (
            ["exploit=pessimistic", "act=policy", "explore=noise"],
            "act=policy makes no plans, but exploit strategy UpperConfidence scores plans",
        ),
        (
            ["exploit=noise_penalty", "act=policy", "explore=noise"],
            "act=policy makes no plans, but exploit strategy NoisePenalty scores plans",
        ),
    ],
)
def test_rules_that_no_agent_can_be_judged_by_are_refused(words, message):
    with pytest.raises(UserError, match=re.escape(message)):
        overrides.load(words)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["devices=multi_worker", "actors=1"],
            "learners must be at least 2 with devices=multi_worker, and 1 with any other "
            "devices, "
            "got learners=1 devices=multi_worker",
        ),
        (["learners=2", "actors=1"], "got learners=2 devices=default"),
        (
            ["learners=2", "devices=multi_worker"],
            "devices=multi_worker needs actors=N, at least 1, got 0",
        ),
        (
            ["learners=3", "devices=multi_worker", "actors=1", "batch_size=32"],
            "batch_size must be a multiple of learners (3), got 32",
        ),
    ],
)
def test_learners_that_cannot_learn_together_are_refused(words, message):
    with pytest.raises(UserError, match=re.escape(message)):
        overrides.load(words)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["batch_size=30"], "must be a multiple of ensemble_members (4), got 30"),
        (
            ["batch_size=36", "learners=2", "devices=multi_worker", "actors=1"],
            "must be a multiple of ensemble_members times learners (8), got 36",
        ),
    ],
)
def test_members_learn_from_equally_many_sequences(words, message):
    with pytest.raises(UserError, match=re.escape(message)):
        overrides.load(["transition=ensemble", *words])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["explore.critic=true", "value=none"], "needs a value: value must not be none"),
        (["explore.beta_rate=0.1"], "changes nothing: explore.critic must be true"),
        (
            [
                "explore.beta_rate=0.1",
                "explore.critic=true",
                "explore.final_beta=0",
                "explore.annealing_steps=9",
            ],
            "tunes beta: explore.final_beta must be null, got 0",
        ),
        (
            ["explore.beta_rate=0.1", "explore.critic=true", "explore.bonus_from=9"],
            "tunes beta from the first gradient step on: explore.bonus_from must be 0, "
            "got 9",
        ),
    ],
)
def test_a_critic_of_the_bonus_that_could_not_learn_is_refused(words, message):
    with pytest.raises(UserError, match=re.escape(message)):
        overrides.load(["explore=information_gain", *words])


def test_overshooting_ends_within_a_sequence():
    words = ["sequence_length=8", "world_model.overshooting_kl_scale=1"]
    overrides.load([*words, "world_model.overshooting_distance=7"])
    message = "overshooting_distance must be below sequence_length (8), got 8"
    with pytest.raises(UserError, match=re.escape(message)):
        overrides.load([*words, "world_model.overshooting_distance=8"])


def test_overshooting_that_changes_nothing_is_refused():
    with pytest.raises(
        UserError, match="distance=5 changes nothing: overshooting_kl_scale"
    ):
        overrides.load(["world_model.overshooting_distance=5"])


def test_a_stddev_of_pixels_is_not_learned():
    words = ["observation=pixels", "world_model.learn_observation_stddev=true"]
    with pytest.raises(UserError, match="for numbers alone, got observation=pixels"):
        overrides.load(words)


def test_strategies_without_draws_go_with_certain_weights():
    overrides.load(["explore=greedy", "transition=deterministic"])
    overrides.load(["explore=conditional_value_at_risk", "explore.alpha=0.1"])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["act=policy", "value=none"], "act=policy needs a learned policy: value"),
        (
            ["act=policy"],
            "no plans, but explore strategy Disagreement scores plans:",
        ),
        (
            ["act=policy", "explore=optimistic"],
            "strategy Optimistic scores plans: add expl",
        ),
        (
            ["value.target_steps=8", "sequence_length=8"],
            "value.target_steps must be below sequence_length (8), got 8",
        ),
    ],
)
def test_a_value_that_cannot_be_learned_or_acted_by_is_refused(words, message):
    with pytest.raises(UserError, match=re.escape(message)):
        overrides.load(words)


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
            ["explore=disagreement", "explore.annealing_episodes=9"],
            "explore.annealing_episodes=9 changes nothing: explore.final_beta",
        ),
        (
            ["explore=information_gain_annealed", "explore.reward_from=500"],
            "explore.annealing_episodes must be null if explore.reward_from is above 0, "
            "got 4: where so many are rewarded, plans would seek nothing until step 500",
        ),
        (
            [
                "explore=information_gain_annealed",
                "explore.annealing_episodes=null",
                "explore.reward_from=10_001",
            ],
            "explore.reward_from must be at most explore.annealing_steps=10000, got 10001: "
            "plans would seek nothing between them",
        ),
        (
            ["explore=information_gain_if_rare", "explore.reward_from=500"],
            "explore.bonus_from must be 0 if explore.reward_from is above 0, got 25000: "
            "plans would seek nothing before step 500; it is 0 in explore=disagreement and "
            "explore=information_gain",
        ),
        (
            ["explore=information_gain_if_rare", "explore.bonus_from=100_000"],
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
    words = ["explore.annealing_episodes=null", "explore.reward_from=10_000"]
    config = overrides.load(["explore=information_gain_annealed", *words])
    assert config.explore.reward_from == config.explore.annealing_steps


def test_one_phase_is_enough():
    words = ["explore.annealing_steps=null", "explore.annealing_episodes=9"]
    config = overrides.load(["explore=information_gain_annealed", *words])
    assert config.explore.annealing_steps is None
