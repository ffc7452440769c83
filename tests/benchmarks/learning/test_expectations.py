"""Tests of benchmarks.learning.expectations."""

import csv

import pytest

from agents.runs import records
from benchmarks.learning.expectations import expectations


def test_a_row_for_each_group_of_each_task_has_means_over_seeds(make_run, tmp_path):
    runs = []
    scores = {"fake": [100.0, 300.0], "fake_ending": [150.0, 310.0, 900.0]}
    for task, own in scores.items():
        for seed, score in enumerate(own):
            folder = tmp_path / task / str(seed)
            given = {"task": task, "data": "logs"}
            runs.append(make_run(folder, seed, [[0.0], [score, score]], **given))
            row = {"episodes": 3, "environment_steps": 2000}
            row |= {"value/expected": 9.0 + seed, "value/returned": 5.0}
            records.append_metrics(folder, row)
    two, three = csv.DictReader(expectations(runs).splitlines())
    assert (two["task"], two["seeds"], two["score"]) == ("fake", "2", "200")
    assert (two["score_low"], two["score_high"]) == ("100", "300")
    assert (three["task"], three["seeds"]) == ("fake_ending", "3")
    assert (float(three["expected"]), float(three["returned"])) == (10.0, 5.0)
    assert float(three["score"]) == pytest.approx(1360 / 3)


def test_runs_that_collected_have_no_row(make_run, tmp_path):
    assert expectations([make_run(tmp_path / "0", 0, [[1.0]])]) == ""
