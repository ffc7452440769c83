import dataclasses

import pytest

from agents.planet.explore import STRATEGIES
from agents.planet.planning import PLANNERS
from agents.planet.value import VALUES
from agents.runs.config import choices, overrides
from agents.runs.config.schema import as_dict, flatten, make_config

KINDS = {"planner": PLANNERS, "explore": STRATEGIES, "value": VALUES}
CHOICES = [
    f"{group}={choice}" for group, names in choices.groups().items() for choice in names
]


@pytest.mark.parametrize("choice", CHOICES)
def test_every_choice_makes_a_config(choice):
    config = overrides.load([choice])
    assert make_config(as_dict(config)) == config


@pytest.mark.parametrize(("group", "kinds"), KINDS.items())
def test_every_kind_is_the_class_of_the_file_of_its_name(group, kinds):
    for kind, made in kinds.items():
        assert type(getattr(overrides.load([f"{group}={kind}"]), group)) is made


@pytest.mark.parametrize(
    "made", [*PLANNERS.values(), *STRATEGIES.values(), *VALUES.values()]
)
def test_values_stand_in_yaml_alone(made):
    fields = dataclasses.fields(made)
    assert all(field.default is dataclasses.MISSING for field in fields)


def test_choices_of_a_world_model_have_the_same_keys():
    keys = [
        as_dict(overrides.load([f"world_model={choice}"]))["world_model"].keys()
        for choice in choices.groups()["world_model"]
    ]
    assert all(each == keys[0] for each in keys)


def test_preset_state_spells_the_defaults():
    assert overrides.load(["experiment=state"]) == overrides.load([])


def test_preset_paper_is_the_last_release_of_planet():
    config = overrides.load(["experiment=paper"])
    expected = {
        "observation": "pixels",
        "image.size": 64,
        "seed_steps": 5000,
        "updates_per_step": 0.1,
        "batch_size": 50,
        "sequence_length": 50,
        "optimizer.learning_rate": 1e-3,
        "optimizer.epsilon": 1e-4,
        "optimizer.clip_norm": 1000.0,
        "action_noise.stddev": 0.3,
        "action_noise.final_stddev": None,
        "act": "plan",
        "value.kind": "none",
        "planner.kind": "cem",
        "planner.horizon": 12,
        "planner.candidates": 1000,
        "planner.elites": 100,
        "planner.iterations": 10,
        "world_model.standardize": False,
        "world_model.belief_size": 200,
        "world_model.latent_size": 30,
        "world_model.hidden_size": 200,
        "world_model.image_depth": 32,
        "world_model.reward_layers": 3,
        "world_model.reward_units": 300,
        "world_model.min_stddev": 0.1,
        "world_model.observation_stddev": 1.0,
        "world_model.learn_observation_stddev": False,
        "world_model.reward_scale": 10.0,
        "world_model.free_nats": 3.0,
        "world_model.kl_scale": 1.0,
        "world_model.global_kl_scale": 0.0,
        "world_model.overshooting_distance": 0,
    }
    flat = flatten(as_dict(config))
    assert {name: flat[name] for name in expected} == expected


def test_preset_paper_overshooting_differs_from_paper_in_what_the_first_release_did():
    paper = flatten(as_dict(overrides.load(["experiment=paper"])))
    first = flatten(as_dict(overrides.load(["experiment=paper_overshooting"])))
    assert {name: value for name, value in first.items() if paper[name] != value} == {
        "world_model.reward_layers": 2,
        "world_model.reward_units": 100,
        "world_model.free_nats": 2.0,
        "world_model.global_kl_scale": 0.1,
        "world_model.overshooting_distance": 49,
        "world_model.overshooting_kl_scale": 1.0,
        "world_model.overshooting_reward_scale": 100.0,
    }
