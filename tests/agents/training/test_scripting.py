"""Tests of agents.train, agents.evaluate and agents.load in a script."""

import types

import numpy as np
import pandas as pd
import pytest

import agents
import envs
from agents.__main__ import main
from agents.runs.config.schema import as_dict
from agents.runs.records import read_metrics
from agents.system.errors import UserError
from agents.training import scoring, scripting
from tests.envs.simulations.test_own import Counter

WORDS = "experiment=debug environment_steps=9 seed_steps=1 sequence_length=3"
WORDS += " updates_per_step=0.34 evaluation.every_steps=0 video_every_steps=0 compile=false"
WORDS += " value=none planner.horizon=2 planner.iterations=1"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.slow
@pytest.mark.usefixtures("eagerly")
def test_a_script_trains_stops_resumes_loads_and_evaluates_its_own_class(folder):
    steps = []

    def two(row):
        steps.append(row["environment_steps"])
        return len(steps) < 2  # False stops

    words = f"{WORDS} logdir=run"
    agents.train(words, environment=lambda: Counter(), after_episode=two)
    assert steps == [3, 6]
    run = agents.train(words, environment=lambda: Counter(), after_episode=[two])
    assert steps == [3, 6, 9]
    assert list(run.metrics["environment_steps"]) == steps
    assert run.metrics.to_dict("records")[-1] == read_metrics("run")[-1]
    assert (run.config.task, run.diverged) == (
        "python:tests.agents.training.test_scripting:test_a_script_trains_stops_"
        "resumes_loads_and_evaluates_its_own_class_locals_lambda",
        None,
    )
    table = agents.evaluate(run, episodes=1)
    written = pd.read_csv(folder / "run" / "evaluation.csv")
    pd.testing.assert_frame_equal(table, written, check_dtype=False)
    assert list(table["return"]) == [60.0] * len(table)
    assert agents.load(run).act([0.0, 1.0]).shape == (1,)


@pytest.mark.slow
def test_a_script_and_the_command_do_the_same(folder):
    words = f"{WORDS.replace('steps=9', 'steps=40')} task=fake"
    run = agents.train([*words.split(), "logdir=script"])
    assert main(["train", *words.split(), "logdir=command"]) == 0
    mine, its = (read_metrics(each) for each in (run, "command"))
    for row, other in zip(mine, its, strict=True):
        same = {k: v for k, v in row.items() if not k.startswith(("speed", "memory"))}
        assert {name: other[name] for name in same} == same


@pytest.mark.parametrize(
    ("config", "environment", "message"),
    [
        (3, None, r"config must be words such as \['seed=1', .*, got 3"),
        ([("seed", 1)], None, "config must be words such as"),
        ("seeed=1", None, "did you mean 'seed'"),
        ("", Counter(), "a function or a class that makes an environment, got <"),
        ("task=fake", Counter, "leave task=... out of the words"),
        ("actors=2", None, "actors must be 0"),
    ],
)
def test_mistakes_are_told_in_one_line(folder, config, environment, message):
    with pytest.raises(UserError, match=message) as caught:
        agents.train(config, environment)
    assert "\n" not in str(caught.value)
    assert list(folder.iterdir()) == []


def test_ctrl_c_ends_the_cells_that_follow(monkeypatch):
    monkeypatch.setattr(scripting.running, "train", lambda *_: 130)
    with pytest.raises(KeyboardInterrupt):
        agents.train("task=fake")


def test_evaluation_of_nothing_is_refused(monkeypatch):
    monkeypatch.setattr(scoring, "load_agent", lambda run: 1 / 0)
    with pytest.raises(UserError, match="at least 1, got 0"):
        agents.evaluate("run", episodes=0)


def test_a_config_may_be_given(monkeypatch):
    seen = []
    monkeypatch.setattr(scripting.running, "train", lambda *given: seen.append(given))
    config = scripting.load_words(["task=fake", "seed=3", "logdir=x"])
    assert agents.train(config, after_episode=print).folder.name == "x"
    agents.train(config, Counter)
    (first, callbacks), (second, _) = seen
    assert (first, callbacks) == (config, (print,))
    changed = {k: v for k, v in as_dict(second).items() if as_dict(config)[k] != v}
    assert changed == {"task": "python:tests.envs.simulations.test_own:Counter"}


@pytest.mark.slow
def test_environments_in_processes_are_those_of_the_script():
    reward = 7.0

    class Own(Counter):
        def step(self, action):
            return np.zeros(2), reward, False, False, {}

    task = envs.give(Own)
    several = envs.load_many(2, task, first_episodes=[0, 1])
    several.reset()
    assert list(several.step(np.zeros([2, 1])).reward) == [reward] * 2
    several.close()


def test_a_class_of_a_notebook_that_is_gone_is_told_with_what_to_do():
    with pytest.raises(ValueError, match="no function 'Gone'; a script gives it: agents"):
        envs.check_task("python:__main__:Gone")
    envs.give(types.SimpleNamespace, "python:__main__:Gone")
    assert envs.check_task("python:__main__:Gone").variant == "Gone"
    with pytest.raises(ValueError, match="named python:module:function, got 'fake'"):
        envs.give(Counter, "fake")
