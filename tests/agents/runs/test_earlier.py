"""Tests of agents.runs.earlier: configs as earlier versions wrote them."""

import pathlib

import pytest
import yaml

from agents.planet.value import NoValue
from agents.runs import grouping
from agents.runs.config import overrides
from agents.runs.config.schema import as_dict, make_config
from agents.runs.earlier import updated
from agents.runs.folder import check_run, load_config, open_run, read_config
from agents.system.errors import UserError


def test_run_of_an_earlier_version_is_read_and_resumed(tmp_path):
    config = overrides.load([f"logdir={tmp_path / 'run'}"])
    open_run(config).close()
    file = pathlib.Path(config.logdir) / "config.yaml"
    lines = file.read_text().splitlines(keepends=True)
    later = ("probe_every", "image_pool", "image_decoder")
    kept = [line for line in lines if line.strip().partition(":")[0] not in later]
    assert len(kept) == len(lines) - 3
    file.write_text("".join(kept))
    assert load_config(config.logdir) == config
    open_run(config).close()


@pytest.mark.parametrize(
    ("task", "repeat"), [("hopper_hop", 2), ("cheetah_run", None), ("fake", None)]
)
def test_earlier_versions_held_actions_as_they_did(task, repeat):
    values = {"task": task, "action_repeat": None}
    assert updated(dict(values))["action_repeat"] == repeat
    assert updated(values | {"value": {"kind": "td"}})["action_repeat"] is None


def test_runs_of_earlier_versions_have_neither_value_nor_standardization(tmp_path):
    config = overrides.load([f"logdir={tmp_path / 'run'}"])
    with open_run(config) as run:
        values = yaml.safe_load(run.config_file.read_text())
        del values["value"], values["act"]
        assert values["world_model"].pop("standardize") is True
        assert values["world_model"].pop("learn_observation_stddev") is False
        run.config_file.write_text(yaml.safe_dump(values))
    found = load_config(tmp_path / "run")
    assert (found.value, found.act) == (NoValue(), "plan")
    assert not found.world_model.standardize
    assert not found.world_model.learn_observation_stddev
    with pytest.raises(UserError, match="value.kind: none -> td"):
        open_run(config)
    words = ["value=none", "world_model.standardize=false"]
    open_run(overrides.load([f"logdir={tmp_path / 'run'}", *words])).close()


@pytest.mark.parametrize(("kind", "keys"), [("disagreement", 5), ("greedy", 0)])
def test_bonuses_of_earlier_versions_had_no_critic_and_counted_no_reward(kind, keys):
    explore = updated({"explore": {"kind": kind}})["explore"]
    expected = {"critic": False, "beta_rate": 0.0, "reward_from": 0}
    expected |= {"annealing_rewards": None, "bonus_from": 0}
    assert explore == {"kind": kind} | dict([*expected.items()][:keys])


def test_rewards_that_end_a_bonus_were_named_by_their_steps():
    before = {"kind": "information_gain", "annealing_rewarded_steps": 50}
    explore = updated({"explore": before})["explore"]
    assert explore["annealing_rewards"] == 50
    assert "annealing_rewarded_steps" not in explore


@pytest.mark.parametrize(
    ("before", "today"),
    [
        (
            {"final_beta": 0.0, "annealed_at": 0.5},
            {"final_beta": 0.0, "annealing_steps": 500},
        ),
        (
            {"final_beta": 0.0, "annealed_at": 1e-9},
            {"final_beta": 0.0, "annealing_steps": 1},
        ),
        ({"final_beta": None, "annealed_at": 1.0}, {"annealing_steps": None}),
        ({"final_beta": 0.05, "annealed_at": 1.0}, {"annealing_steps": None}),
        ({"annealed_at": 1, "reward_from": 0.25}, {"reward_from": 250}),
    ],
)
def test_schedules_of_earlier_versions_were_in_shares_of_the_run(tmp_path, before, today):
    words = ["explore=information_gain", "environment_steps=1000"]
    config = as_dict(overrides.load([f"logdir={tmp_path / 'run'}", *words]))
    expected = config["explore"] | {"final_beta": None} | today
    del config["explore"]["annealing_steps"]
    config["explore"] |= before
    assert as_dict(make_config(updated(config)))["explore"] == expected


@pytest.mark.parametrize(("task", "scale"), [("fake_ending", 0.0), ("fake", 1.0)])
def test_models_of_earlier_versions_have_no_continuation_head(tmp_path, task, scale):
    config = overrides.load([f"logdir={tmp_path / 'run'}", f"task={task}"])
    with open_run(config) as run:
        values = yaml.safe_load(run.config_file.read_text())
        assert values["world_model"].pop("continuation_scale") == 1.0
        run.config_file.write_text(yaml.safe_dump(values))
    assert load_config(tmp_path / "run").world_model.continuation_scale == scale
    if scale == config.world_model.continuation_scale:
        open_run(config).close()
    else:
        with pytest.raises(UserError, match=r"world_model.continuation_scale: 0.0 -> 1.0"):
            open_run(config)


@pytest.mark.parametrize(
    ("words", "group", "name", "old"),
    [
        (["explore=thompson"], "action_noise", "final_stddev", 0.1),
        (
            ["explore=thompson", "action_noise.stddev=0.3"],
            "action_noise",
            "final_stddev",
            0.1,
        ),
    ],
)
def test_ends_of_schedules_that_change_nothing_may_be_spelt_as_before(
    tmp_path, words, group, name, old
):
    config = overrides.load([f"logdir={tmp_path / 'run'}", *words])
    with open_run(config) as run:
        values = yaml.safe_load(run.config_file.read_text())
        values[group][name] = old
        run.config_file.write_text(yaml.safe_dump(values))
    assert load_config(tmp_path / "run") == config
    check_run(config)
    spelt = as_dict(config) | {group: as_dict(config)[group] | {name: old}}
    assert grouping.group([read_config(tmp_path / "run"), as_dict(config)]) == [[0, 1]]
    if words == ["explore=thompson"]:
        check_run(make_config(spelt))


@pytest.mark.parametrize(
    ("group", "choice", "path"),
    [
        ("planner", "cem", "agents.planner.CrossEntropy"),
        ("planner", "icem", "agents.planner.ImprovedCrossEntropy"),
        ("planner", "cem", "agents.planning.cross_entropy.CrossEntropy"),
        ("planner", "icem", "agents.planning.improved.ImprovedCrossEntropy"),
        ("explore", "noise", "agents.explore.Greedy"),
        ("explore", "thompson", "agents.explore.Thompson"),
        ("explore", "pets_switching", "agents.explore.MeanOverDraws"),
        ("explore", "pessimistic", "agents.explore.UpperConfidence"),
        ("explore", "optimistic", "agents.explore.Optimistic"),
        (
            "explore",
            "conditional_value_at_risk",
            "agents.explore.ConditionalValueAtRisk",
        ),
        ("explore", "disagreement", "agents.explore.Disagreement"),
        ("explore", "information_gain", "agents.explore.InformationGain"),
        ("explore", "uncertainty_penalty", "agents.explore.UncertaintyPenalty"),
    ],
)
def test_a_run_that_named_a_class_by_its_path_is_read_resumed_and_grouped(
    tmp_path, group, choice, path
):
    config = overrides.load([f"logdir={tmp_path / 'run'}", f"{group}={choice}"])
    with open_run(config) as run:
        values = yaml.safe_load(run.config_file.read_text())
        del values[group]["kind"]
        values[group]["_target_"] = path
        run.config_file.write_text(yaml.safe_dump(values))
    assert load_config(tmp_path / "run") == config
    check_run(config)
    assert grouping.group([read_config(tmp_path / "run"), as_dict(config)]) == [[0, 1]]


def test_a_path_that_names_no_class_is_refused(tmp_path):
    config = overrides.load([f"logdir={tmp_path / 'run'}"])
    with open_run(config) as run:
        values = yaml.safe_load(run.config_file.read_text())
        values["explore"] = {"_target_": "os.system"}
        run.config_file.write_text(yaml.safe_dump(values))
    with pytest.raises(UserError, match="explore.kind must be .* got 'system'"):
        load_config(config.logdir)


def test_plans_of_earlier_versions_with_a_value_were_worth_all_their_rewards():
    values = {"value": {"kind": "td", "discount": None}}
    assert updated(values)["value"]["return_lambda"] == 1.0
    assert updated({"value": {"kind": "none"}})["value"] == {"kind": "none"}


def test_strategies_that_scored_no_plans_of_a_policy_are_none(tmp_path):
    explore = {"kind": "information_gain", "draws": 5}
    assert updated({"act": "policy", "explore": explore})["explore"] == {"kind": "greedy"}
    assert updated({"act": "plan", "explore": explore})["explore"]["draws"] == 5
    thompson = {"kind": "thompson", "draws": 1, "redraw": "episode"}
    assert updated({"act": "policy", "explore": thompson})["explore"] == thompson
