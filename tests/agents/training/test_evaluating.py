"""Tests of agents.training.evaluating, by its command."""

import csv
import re

import numpy as np
import pytest

from agents.cli.evaluate import evaluate
from agents.training.evaluating import score

LOAD = "agents.training.evaluating.load_agent"
TIME = "agents.training.evaluating.decision_milliseconds"
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
