"""Tests of runs of a task whose actions are categories, of two parts."""

import json
import pathlib
from unittest import mock

import numpy as np
import pytest
import tensorflow as tf

import agents
import envs
from agents.__main__ import main
from agents.cli import export as exporting
from agents.episodes.collecting import RandomPolicy
from agents.system.errors import UserError
from agents.training.building import choose_devices, make_agent
from agents.training.checking import check
from agents.training.loading import load_parts
from agents.training.measurements import banner

TASK = "task=python:tests.agents.training.switches:Switches"
QUICK = ("noise", "thompson_groups", "disagreement")
STRATEGIES = sorted(path.stem for path in pathlib.Path("configs/explore").glob("*.yaml"))
STRATEGIES = [
    each if each in QUICK else pytest.param(each, marks=pytest.mark.slow)
    for each in STRATEGIES
]
PARTS = [3]  # where a vector of 5 is split


@pytest.fixture(scope="module")
def environment():
    """Two of them, stepped together."""
    return envs.load_many(2, TASK.removeprefix("task="), processes=False)


def is_one_hot(actions):
    first, second = np.split(np.asarray(actions), PARTS, -1)
    sums = [part.sum(-1) for part in (first, second)]
    return set(np.unique(actions)) <= {0.0, 1.0} and np.all(np.equal(sums, 1.0))


def learned_from(environment, make_batch):
    """A batch of random actions."""
    policy, step = RandomPolicy(environment, 0), environment.reset()
    actions = [policy.action(step).action for _ in range(5)]
    assert is_one_hot(actions)
    return make_batch(2) | {"action": tf.constant(np.stack(actions, 1))}


@pytest.mark.slow
@pytest.mark.parametrize("explore", [*STRATEGIES, "critic", "bonus_alone", "colored"])
def test_every_strategy_acts_by_one_hot_vectors_and_learns(
    make_config, environment, make_batch, quick_planner, explore
):
    special = {
        "critic": [
            "explore=information_gain",
            "explore.critic=true",
            "explore.beta_rate=1",
        ],
        "bonus_alone": ["explore=disagreement", "explore.reward_from=1000"],
        "colored": ["explore=noise", "action_noise.color=1.0"],
    }
    words = special.get(explore, [f"explore={explore}"])
    config = make_config(TASK, "value=td", "value.units=8", *quick_planner, *words)
    agent = make_agent(config, environment, choose_devices("default"))
    policy, step = agent.collect_policy, environment.reset()
    state = policy.get_initial_state(2)
    for _ in range(2):
        action, state, _ = policy.action(step, state)
        assert is_one_hot(action)
        step = environment.step(action)
    if explore in ("noise", *special):
        batch = learned_from(environment, make_batch)
        assert np.isfinite(agent.train(batch).loss)


@pytest.fixture(scope="module")
def run(train_once, quick_planner):
    """Folder of a run of four episodes; not to be changed."""
    words = ["environment_steps=40", "value=td", "value.units=8", *quick_planner]
    own = ["evaluation.every_steps=0", "video_every_steps=0"]
    return train_once("switches", TASK, *words, *own, eagerly=True)


def test_a_run_stores_one_hot_actions(run):
    for file in (run / "episodes").glob("*.npz"):
        with np.load(file) as episode:
            assert episode["action"].shape == (11, 5)
            assert not episode["action"][0].any()
            assert is_one_hot(episode["action"][1:])


@pytest.mark.slow
def test_predictions_are_filmed(run):
    assert main(["video", str(run)]) == 0
    assert list((run / "videos").iterdir())


@pytest.mark.usefixtures("eagerly")
def test_a_loaded_agent_says_the_numbers_of_the_categories(run):
    agent = agents.load(run)
    action = agent.act(np.zeros(2, np.float32))
    assert action.shape == (2,)
    assert action[0] in range(3)
    assert action[1] in range(2)


@pytest.mark.slow
def test_a_run_is_evaluated(run, capsys):
    assert main(["evaluate", str(run), "--episodes", "1"]) == 0
    assert "return" in capsys.readouterr().out


def test_the_exported_policy_is_said_to_be_one_hot(run, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(exporting, "PolicySaver", mock.Mock())  # which takes seconds
    exporting.export(run, tmp_path / "policy")
    said = capsys.readouterr().out
    assert "# [1, 5], one-hot" in said
    choice = "parts = tf.split(action[0], [3, 2])"
    assert choice in said
    stored = json.loads((tmp_path / "policy" / exporting.INTERFACE).read_text())
    assert stored["action"] == {"categories": [3, 2], "first": [0, 0]}


def test_the_banner_tells_the_categories(run):
    config, agent, *_ = load_parts(run)
    environment = envs.load_many(1, config.task, processes=False)
    assert "action categories (3, 2)" in banner(config, agent, environment)["task"]


def test_noise_above_a_probability_is_refused_before_the_run(make_config):
    config = make_config(TASK, "action_noise.stddev=1.5")
    with pytest.raises(UserError, match="action_noise.stddev must be at most 1 where"):
        check(config)
