"""Tests of agents.cli.learn, by the command line."""

import numpy as np
import pytest

from agents.__main__ import main


@pytest.fixture
def logs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = {"actions": np.zeros([40, 1]), "rewards": np.zeros(40)}
    np.savez(tmp_path / "log.npz", observations=np.zeros([41, 3]), **rows)
    return "log.npz"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["environment_steps=9"],
            "environment_steps cannot be set: log.npz determines it; to learn",
        ),
        (["task=fake"], "observation has rows of shape (3,); task=fake has (2,)"),
        (
            ["sequence_length=50"],
            "has 41 rows in all; sequence_length must be at most",
        ),
        (
            ["task=logged", "evaluation.every_steps=1"],
            "evaluation.every_steps must be 0 with task=log",
        ),
        (["actors=1"], "actors must be 0 with data=log.npz, got 1: nothing is collected"),
        (["explore=information_gain", "transition=deterministic"], "has no draws"),
    ],
)
def test_what_does_not_go_with_the_episodes_is_refused(
    logs, words, message, capsys, tmp_path
):
    assert main(["learn", logs, *words]) == 2
    assert message in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["log.npz"]


def test_other_episodes_than_those_of_the_run_are_refused(logs, capsys):
    words = [
        "data=log.npz",
        "task=logged",
        "evaluation.every_steps=0",
        "environment_steps=7",
    ]
    assert main(["train", *words, "explore=greedy"]) == 2
    assert (
        "environment_steps must be 40, those of log.npz, got 7" in capsys.readouterr().err
    )


def test_a_task_without_environment_is_for_data_alone(capsys):
    assert main(["train", "task=logged"]) == 2
    assert "task=logged is for data alone: bayes-rl learn DATA" in capsys.readouterr().err


def test_words_that_are_typed_go_before_those_of_the_episodes(logs, capsys):
    assert main(["learn", logs, "--print-config", "action_repeat=2", "seed=3"]) == 0
    printed = capsys.readouterr().out
    for line in ("action_repeat: 2", "seed: 3", "environment_steps: 80", "task: logged"):
        assert f"{line}\n" in printed
