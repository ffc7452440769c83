"""Tests of benchmarks.learning.expectations."""

import csv

import pytest

from agents.runs import records
from benchmarks.learning.expectations import expectations


def test_seeds_are_paired_with_those_of_the_twin_and_values_with_what_came(
    make_run, tmp_path
):
    runs = []
    scores = {"deterministic": [100.0, 300.0], "ensemble": [150.0, 310.0, 900.0]}
    for transition, own in scores.items():
        for seed, score in enumerate(own):
            folder = tmp_path / transition / str(seed)
            given = {"transition": transition, "data": "logs"}
            runs.append(make_run(folder, seed, [[0.0], [score, score]], **given))
            row = {"episodes": 3, "environment_steps": 2000}
            row |= {"value/expected": 9.0 + seed, "value/returned": 5.0}
            records.append_metrics(folder, row)
    twin, other = csv.DictReader(expectations(runs).splitlines())
    assert (twin["seeds"], twin["score"], twin["difference"]) == ("2", "200", "")
    assert (other["seeds"], other["pairs"]) == ("3", "2")
    assert float(other["difference"]) == (50.0 + 10.0) / 2  # the third has no partner
    assert [float(other[f"difference_{end}"]) for end in ("low", "high")] == [10, 50]
    assert (float(other["expected"]), float(other["returned"])) == (10.0, 5.0)
    assert float(other["score"]) == pytest.approx(1360 / 3)


def test_runs_that_collected_have_no_row(make_run, tmp_path):
    assert expectations([make_run(tmp_path / "0", 0, [[1.0]])]) == ""
