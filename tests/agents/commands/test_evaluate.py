"""Tests of agents.commands.evaluate."""

import csv

import numpy as np

from agents.commands.evaluate import evaluate


def test_scores_are_written_and_summed_up_in_a_line(whole_run, capsys):
    evaluate(whole_run, episodes=3)
    with open(whole_run / "evaluation.csv") as file:
        rows = list(csv.DictReader(file))
    assert [row["episode"] for row in rows] == ["0", "1", "2"]
    assert len({row["seed"] for row in rows}) == 3
    assert {row["environment_steps"] for row in rows} == {"160"}
    mean = np.mean([float(row["return"]) for row in rows])
    said = capsys.readouterr().out
    assert said.count("\n") == 1
    assert f"fake after 160 environment steps: mean return {mean:.1f}" in said
