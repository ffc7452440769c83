"""Tests of agents.runs.earlier: configs as earlier versions wrote them."""

import copy

import pytest

from agents.planet.value import NoValue
from agents.runs import grouping
from agents.runs.config import choices
from agents.runs.config.resolving import OPEN
from agents.runs.config.schema import as_dict, make_config
from agents.runs.earlier import is_earlier, updated
from agents.system.errors import UserError
from tests.agents.presets import used


def without(config, *keys):
    """The nested plain values of a config, but for these."""
    values = as_dict(config)
    for key in keys:
        *groups, last = key.split(".")
        place = values[groups[0]] if groups else values
        del place[last]
    return values


@pytest.mark.parametrize(
    "words",
    [
        [f"{group}={choice}", "transition=rank1"]
        for group, names in choices.groups().items()
        for choice in names
    ]
    + [["act=policy", "explore=noise"], ["act=policy", "explore=thompson"]],
)
def test_what_is_saved_today_is_not_earlier_and_stays_as_it_is(words):
    values = as_dict(used(*words))
    assert not is_earlier(values)
    assert updated(copy.deepcopy(values)) == values


@pytest.mark.parametrize("key", ["probe_every_steps", "world_model.image_pool", "compile"])
def test_keys_that_came_later_tell_an_earlier_version(key):
    config = used("compile=false")
    assert is_earlier(without(config, key))


@pytest.mark.parametrize("key", OPEN)
def test_what_earlier_versions_left_open_tells_them(key):
    values = as_dict(used())
    *groups, last = key.split(".")
    (values[groups[0]] if groups else values)[last] = None
    assert is_earlier(values)


def test_what_no_run_wrote_is_left_to_checks():
    assert not is_earlier({"task": "pendulum_swingup", "seed": 0})
    assert not is_earlier({"theme": "dark"})


def test_the_devices_were_called_strategy():
    values = without(used(), "devices") | {"strategy": "mirrored"}
    assert is_earlier(values)
    assert make_config(updated(values)).devices == "mirrored"
    assert "strategy" not in values


def in_episodes(values):
    """The values as a version wrote them that counted episodes, of 1,000 steps."""
    today = {"seed_steps": "seed_episodes", "video_every_steps": "video_every"}
    today |= {"updates_per_step": "updates_per_episode", "probe_every_steps": "probe_every"}
    counted = {"seed_episodes": 5, "updates_per_episode": 300}
    counted |= {"video_every": 20, "probe_every": 0}
    counted["evaluation"] = {"every": 10, "episodes": 10}
    del values["checkpoint_every_steps"]
    return {today.get(key, key): value for key, value in values.items()} | counted


@pytest.mark.parametrize("value", [float("nan"), float("inf"), True, "few"])
def test_what_is_no_number_of_episodes_is_left_to_those_who_check_it(value):
    assert updated({"seed_episodes": value})["seed_steps"] is value


def test_earlier_versions_counted_episodes_and_saved_after_each():
    config = used(
        "seed_steps=5000",
        "updates_per_step=0.3",
        "evaluation={every_steps: 10_000, episodes: 10}",
        "video_every_steps=20_000",
        "probe_every_steps=0",
        "checkpoint_every_steps=1",
    )
    values = in_episodes(as_dict(config))
    assert is_earlier(values)
    assert make_config(updated(copy.deepcopy(values))) == config
    found = make_config(updated(values, episode_steps=20))
    assert (found.seed_steps, found.updates_per_step) == (100, 15.0)
    assert (found.evaluation.every_steps, found.video_every_steps) == (200, 400)


def test_run_of_an_earlier_version_is_put_into_todays_words():
    config = used()
    later = ("probe_every_steps", "world_model.image_pool", "world_model.image_decoder")
    assert make_config(updated(without(config, *later))) == config


@pytest.mark.parametrize(
    ("task", "repeat"), [("hopper_hop", 2), ("cheetah_run", None), ("fake", None)]
)
def test_earlier_versions_held_actions_as_they_did(task, repeat):
    values = {"task": task, "action_repeat": None}
    assert updated(dict(values))["action_repeat"] == repeat
    assert updated(values | {"value": {"kind": "td"}})["action_repeat"] is None


def test_runs_of_earlier_versions_have_neither_value_nor_standardization():
    later = ["standardize", "learn_observation_stddev"]
    later = ["value", "act", *(f"world_model.{name}" for name in later)]
    found = make_config(updated(without(used(), *later)))
    assert (found.value, found.act) == (NoValue(), "plan")
    assert found == used("value=none", "world_model.standardize=false")


def test_a_value_of_a_kind_of_ones_own_stays_as_it_is():
    values = {"value": {"kind": "mine", "units": 3}}
    assert updated(copy.deepcopy(values))["value"] == values["value"]


@pytest.mark.parametrize(("kind", "keys"), [("disagreement", 5), ("greedy", 0)])
def test_bonuses_of_earlier_versions_had_no_critic_and_counted_no_reward(kind, keys):
    explore = updated({"explore": {"kind": kind}})["explore"]
    expected = {"critic": False, "beta_rate": 0.0, "reward_from": 0}
    expected |= {"annealing_episodes": None, "bonus_from": 0}
    assert explore == {"kind": kind} | dict([*expected.items()][:keys])


@pytest.mark.parametrize("name", ["annealing_rewarded_steps", "annealing_rewards"])
@pytest.mark.parametrize(
    ("rewards", "episodes"), [(50, 2), (100.0, 4), (9, 1), (999, 10), (None, None)]
)
def test_rewards_that_end_a_bonus_were_counted_by_their_steps(name, rewards, episodes):
    before = {"kind": "information_gain", name: rewards}
    explore = updated({"explore": before})["explore"]
    assert explore["annealing_episodes"] == episodes
    assert name not in explore


def test_rewards_were_counted_for_penalties_too():
    before = {"kind": "noise_penalty", "annealing_rewards": None}
    values = updated({"explore": {"kind": "greedy"}, "exploit": before})
    assert values["exploit"] == {"kind": "noise_penalty", "annealing_episodes": None}


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
def test_schedules_of_earlier_versions_were_in_shares_of_the_run(before, today):
    config = as_dict(used("explore=information_gain", "environment_steps=1000"))
    expected = config["explore"] | {"final_beta": None} | today
    del config["explore"]["annealing_steps"]
    config["explore"] |= before
    assert as_dict(make_config(updated(config)))["explore"] == expected


@pytest.mark.parametrize(("task", "scale"), [("fake_ending", 0.0), ("fake", 1.0)])
def test_models_of_earlier_versions_have_no_continuation_head(task, scale):
    values = without(used(f"task={task}"), "world_model.continuation_scale")
    assert updated(values)["world_model"]["continuation_scale"] == scale


@pytest.mark.parametrize("stddev", [0.1, 0.3])
def test_ends_of_schedules_that_change_nothing_were_numbers(stddev):
    config = used("explore=thompson", f"action_noise.stddev={stddev}")
    values = as_dict(config)
    values["action_noise"]["final_stddev"] = 0.1
    assert is_earlier(values)
    assert make_config(updated(values)) == config


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
def test_a_run_that_named_a_class_by_its_path_names_its_kind(group, choice, path):
    config = used(f"{group}={choice}")
    values = without(config, f"{group}.kind")
    values[group]["_target_"] = path
    assert is_earlier(values)
    assert make_config(updated(values)) == config
    assert grouping.group([values, as_dict(config)]) == [[0, 1]]


def test_a_path_that_names_no_class_is_refused():
    values = as_dict(used()) | {"explore": {"_target_": "os.system"}}
    with pytest.raises(UserError, match="explore.kind must be .* got 'system'"):
        make_config(updated(values))


def test_plans_of_earlier_versions_with_a_value_were_worth_all_their_rewards():
    values = {"value": {"kind": "td", "discount": None}}
    assert updated(values)["value"]["return_lambda"] == 1.0
    assert updated({"value": {"kind": "none"}})["value"] == {"kind": "none"}


def test_strategies_that_scored_no_plans_of_a_policy_are_none():
    explore = {"kind": "information_gain", "draws": 5}
    assert updated({"act": "policy", "explore": explore})["explore"] == {"kind": "greedy"}
    assert updated({"act": "plan", "explore": explore})["explore"]["draws"] == 5
    thompson = {"kind": "thompson", "draws": 1, "redraw": "episode"}
    assert updated({"act": "policy", "explore": thompson})["explore"] == thompson
    mine = {"kind": "mine", "draws": 0}
    assert updated({"act": "policy", "explore": mine})["explore"] == mine
