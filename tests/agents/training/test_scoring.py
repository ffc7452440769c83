"""Tests of agents.training.scoring, by its command."""

import csv
import re
import types

import numpy as np
import pytest

from agents.cli.evaluate import evaluate
from agents.system.errors import UserError
from agents.training.scoring import score

LOAD = "agents.training.scoring.load_agent"
TIME = "agents.training.scoring.decision_milliseconds"
LINE = re.compile(
    r"act=(\w+): mean return (\S+), median (\S+), lowest (\S+), highest (\S+); "
    r"(\S+) ms a decision"
)


def rows_of(run):
    with open(run / "evaluation.csv") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def copied(whole_run, whole_agent):
    """Rows and words of an evaluation of 3 episodes."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        said = []
        monkeypatch.setattr(LOAD, {whole_run: whole_agent}.get)
        # seconds of compiling; below it is measured
        monkeypatch.setattr(TIME, lambda policy: 1.5)
        rows = score(whole_run, episodes=3, tell=said.append)
    assert [{k: str(v) for k, v in row.items()} for row in rows] == rows_of(whole_run)
    return rows_of(whole_run), said, whole_run


@pytest.mark.slow
def test_planner_and_policy_are_scored_from_the_same_starts(copied):
    rows, *_ = copied
    assert [row["act"] for row in rows] == ["plan"] * 3 + ["policy"] * 3
    assert [row["episode"] for row in rows] == ["0", "1", "2"] * 2
    seeds = [row["seed"] for row in rows]
    assert seeds[:3] == seeds[3:]
    assert len(set(seeds)) == 3
    assert {row["environment_steps"] for row in rows} == {"160"}
    assert {row["train_steps"] for row in rows} == {"14"}


def test_each_way_of_acting_has_a_line_with_its_scores_and_its_time(copied):
    rows, (first, *lines, last), folder = copied
    assert first == "fake after 160 environment steps; episodes of each: 3"
    assert last == folder / "evaluation.csv"
    for act, line in zip(("plan", "policy"), lines, strict=True):
        returns = [float(row["return"]) for row in rows if row["act"] == act]
        name, *numbers, milliseconds = LINE.fullmatch(line).groups()
        assert name == act
        of = (np.mean, np.median, np.min, np.max)
        assert numbers == [f"{function(returns):.1f}" for function in of]
        assert float(milliseconds) == 1.5


@pytest.mark.slow
def test_without_a_value_there_is_nothing_but_the_planner(
    make_config, build_agent, tmp_path, capsys, monkeypatch
):
    words = ["value=none", "planner.horizon=1"]
    loaded = make_config(*words), build_agent(*words)
    monkeypatch.setattr(LOAD, {tmp_path: loaded}.get)
    evaluate(tmp_path, episodes=1)
    assert [row["act"] for row in rows_of(tmp_path)] == ["plan"]
    (line,) = (x for x in capsys.readouterr().out.splitlines() if "act=" in x)
    assert float(LINE.fullmatch(line)[6]) > 0


def test_a_task_that_is_changed_is_told(whole_run, monkeypatch, tmp_path, make_config):
    agent = types.SimpleNamespace(
        counts={"environment_steps": 7, "train_steps": 5},
        value=None,
        policies=types.SimpleNamespace(exploiting=lambda act: act),
    )
    seen, said = [], []
    monkeypatch.setattr(LOAD, lambda _: (make_config("task=cartpole_balance"), agent))
    monkeypatch.setattr(TIME, lambda policy: 1.5)
    monkeypatch.setattr(
        "agents.training.scoring._scores",
        lambda config, *_: seen.append(config.physics) or [{"return": 3.0}],
    )
    factors = {"gain": 0.5, "mass": 2.0}
    score(whole_run, 1, tmp_path, factors, tell=said.append)
    (physics,) = seen
    assert (physics.mass, physics.friction, physics.gain) == (2.0, 1.0, 0.5)
    assert said[0].startswith("cartpole_balance gain=0.5 mass=2 after 7 env")
    (row,) = rows_of(tmp_path)
    assert (row["gain"], row["mass"], row["return"]) == ("0.5", "2.0", "3.0")


@pytest.mark.parametrize(
    ("factors", "message"),
    [
        (
            {"mass": 2.0},
            "mass can be changed for tasks of DeepMind Control alone, got task",
        ),
        ({"gian": 2.0}, "there is no key 'physics.gian'"),
        ({"mass": 0.0}, "physics.mass must be above 0, got 0"),
    ],
)
def test_a_change_that_cannot_be_is_refused(
    whole_run, whole_agent, monkeypatch, factors, message
):
    monkeypatch.setattr(LOAD, {whole_run: whole_agent}.get)
    with pytest.raises(UserError, match=message):
        score(whole_run, 1, physics=factors)


@pytest.mark.slow
def test_scores_are_written_to_another_folder(
    whole_run, whole_agent, monkeypatch, tmp_path, capsys
):
    monkeypatch.setattr(LOAD, {whole_run: whole_agent}.get)
    monkeypatch.setattr(TIME, lambda policy: 1.5)
    before = sorted(whole_run.iterdir())
    evaluate(whole_run, episodes=1, out=tmp_path / "new" / "out")
    assert len(rows_of(tmp_path / "new" / "out")) == 2
    assert sorted(whole_run.iterdir()) == before
    file = tmp_path / "new" / "out" / "evaluation.csv"
    assert capsys.readouterr().out.endswith(f"{file}\n")
