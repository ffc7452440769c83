"""Tests of agents.runs.config.resolving: a run saves what is used."""

import dataclasses
import re

import pytest

from agents.runs.config import choices, overrides
from agents.runs.config.resolving import (
    OPEN,
    Surroundings,
    fill,
    open_keys,
    resolve,
)
from agents.runs.config.schema import as_dict, flatten
from agents.system.errors import UserError
from tests.agents.presets import FAKE, used

CHEETAH = Surroundings(4, 250, observation_size=17, action_size=6)


def test_nothing_is_left_open_and_what_was_set_stays():
    words = ["action_repeat=2", "compile=false", "value.discount=0.7"]
    words += ["world_model.belief_size=5"]
    found = as_dict(used(*words, surroundings=CHEETAH))
    assert open_keys(found) == []
    assert (found["action_repeat"], found["compile"]) == (2, False)
    assert (found["value"]["discount"], found["world_model"]["belief_size"]) == (0.7, 5)
    assert found["world_model"]["hidden_size"] == 124


def test_task_and_machine_decide_what_is_left_open():
    found = used(surroundings=CHEETAH)
    assert (found.action_repeat, found.compile, found.value.discount) == (4, True, 0.98)
    assert (found.world_model.belief_size, found.world_model.latent_size) == (124, 31)
    unknown = dataclasses.replace(CHEETAH, episode_length=None)
    assert used(surroundings=unknown).value.discount == 0.995
    assert open_keys(as_dict(used("value=none"))) == []


@pytest.mark.parametrize("can_end", [False, True])
def test_critics_are_centered_where_episodes_can_end(can_end):
    where = dataclasses.replace(CHEETAH, can_end=can_end)
    assert used(surroundings=where).value.centered is can_end
    for word, is_set in {"true": True, "false": False}.items():
        found = used(f"value.centered={word}", surroundings=where)
        assert found.value.centered is is_set


def of_long_episodes(*words, decisions=500):
    return used(*words, surroundings=dataclasses.replace(CHEETAH, episode_length=decisions))


def test_learning_is_faster_where_decisions_count_for_long():
    def pace(*words, decisions=500):
        found = of_long_episodes(*words, decisions=decisions)
        value = found.value.updates, found.value.learning_rate
        return found.updates_per_step, found.sequence_length, *value

    slow, fast = (0.3, 32, 1, 3e-4), (0.6, 16, 4, 1e-3)
    assert pace(decisions=250) == pace("value.discount=0.98") == slow
    assert pace() == pace("value.discount=0.99", decisions=250) == fast
    assert pace("updates_per_step=0.1") == (0.1, *fast[1:])
    assert pace("sequence_length=8") == (0.6, 8, 4, 1e-3)
    assert pace("value.updates=2") == (0.6, 16, 2, 1e-3)
    assert pace("value.learning_rate=0.1") == (*fast[:3], 0.1)


def test_without_a_value_learning_is_slower_whatever_the_task():
    found = of_long_episodes("value=none")
    assert (found.updates_per_step, found.sequence_length) == (0.3, 32)


def test_sequences_that_the_task_makes_too_short_are_refused():
    word = "world_model.overshooting_distance=16"
    words = [word, "world_model.overshooting_kl_scale=1"]
    assert of_long_episodes(*words, decisions=250).sequence_length == 32
    message = "overshooting_distance must be below sequence_length (16), got 16"
    with pytest.raises(UserError, match=re.escape(message)):
        of_long_episodes(*words)


def test_vectors_are_compiled_and_pictures_are_not():
    assert used("compile=null").compile is True
    seen = dataclasses.replace(FAKE, has_images=True)
    assert used("compile=null", "experiment=pixels", surroundings=seen).compile is False
    assert used("compile=true", "experiment=pixels", surroundings=seen).compile is True


@pytest.mark.parametrize(("has_gpu", "compiles"), [(False, False), (True, True)])
def test_bfloat16_is_compiled_on_a_gpu_alone(has_gpu, compiles):
    where = dataclasses.replace(FAKE, has_gpu=has_gpu)
    words = "compute_dtype=bfloat16"
    assert used(words, surroundings=where).compile is compiles
    assert used(words, "compile=true", surroundings=where).compile is True


@pytest.mark.parametrize(
    "group", ["experiment", "world_model", "value", "explore", "exploit"]
)
def test_null_that_is_left_is_a_value(group):
    """Where a choice has null for a key of a rule, the key is among those that are open."""
    values_that_are_null = {
        "hold_out_every",
        "time_limit",
        "address",
        "evaluation.apart",
        "data",
        "action_noise.final_stddev",
    }
    for strategy in ("explore", "exploit"):
        ends = ("final_beta", "annealing_steps", "annealing_episodes")
        values_that_are_null |= {f"{strategy}.{end}" for end in ends}
    for choice in choices.groups()[group]:
        flat = flatten(
            as_dict(
                resolve(overrides.load([f"{group}={choice}", "transition=rank1"]), FAKE)
            )
        )
        assert {key for key in flat if flat[key] is None} <= values_that_are_null


def test_what_a_run_has_saved_fills_what_is_left_open():
    stddev = "world_model.observation_stddev=0.15"  # of runs before it was left open
    saved = used("action_repeat=3", "world_model.latent_size=7", "compile=false", stddev)
    config = fill(overrides.load(["seed=1"]), saved)
    assert (config.seed, config.action_repeat, config.compile) == (1, 3, False)
    assert config.world_model.latent_size == 7
    assert config.world_model.observation_stddev == 0.15
    assert fill(overrides.load(["action_repeat=9"]), saved).action_repeat == 9


def test_every_open_key_is_a_key():
    found = overrides.load(["exploit=uncertainty_penalty"])
    assert {*OPEN} <= flatten(as_dict(found)).keys()
