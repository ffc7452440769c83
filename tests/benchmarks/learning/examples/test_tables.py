"""Tests of benchmarks.learning.examples.tables."""

import json

import numpy as np
import pytest

from benchmarks.learning.examples import tables
from benchmarks.learning.examples.programs import PROGRAMS


def _rows(folder, name, method, values):
    results = [
        {"method": method, "seed": seed, "seconds": 7.0 + seed, "rotated": {name: value}}
        for seed, value in enumerate(values)
    ]
    file = folder / f"{method}.json"
    file.write_text(json.dumps({"results": results}))
    return tables.read("digits", [file])


def _summary(folder, others, name="accuracy"):
    rows = _rows(folder, name, "deterministic", [0.90, 0.92, 0.94])
    rows += _rows(folder, name, "flipout", others)
    return tables.summarize(rows, "deterministic")


def test_an_interval_is_that_of_student():
    # t of 4 degrees of freedom, 97.5 %: 2.776
    mean, low, high = tables.interval([1.0, 2.0, 3.0, 4.0, 5.0])
    half = 2.776445 * np.sqrt(2.5 / 5)
    np.testing.assert_allclose([mean, low, high], [3, 3 - half, 3 + half], rtol=1e-6)
    assert np.isnan(tables.interval([1.0])[1])


@pytest.mark.parametrize(
    ("others", "verdict"),
    [
        ([0.91, 0.93, 0.951], 1),  # better seed by seed, though intervals overlap
        ([0.89, 0.91, 0.929], -1),
        ([0.95, 0.90, 0.92], 0),
        ([1.0], 0),  # one seed says nothing
    ],
)
def test_seeds_are_compared_one_by_one(others, verdict, tmp_path):
    _, row = _summary(tmp_path, others)
    assert row["verdict"] == verdict
    assert row["mean"] == pytest.approx(np.mean(others))
    _, error = _summary(tmp_path, others, "calibration_error")
    assert error["verdict"] == -verdict
    _, coverage = _summary(tmp_path, others, "coverage")
    assert coverage["verdict"] == 0


def test_words_say_who_is_better_and_who_is_not(tmp_path):
    summary = _summary(tmp_path, [0.89, 0.91, 0.929], "calibration_error")
    ((_, *row),) = tables.verdicts(summary, PROGRAMS["digits"])  # of NLL nothing was run
    assert row == ["calibration error", "deterministic", "flipout", "", ""]


def test_a_cell_has_its_mean_its_interval_and_its_verdict(tmp_path):
    *_, plain, other = tables.table(_summary(tmp_path, [0.89, 0.91, 0.929])).splitlines()
    assert plain == "| deterministic | 0.920 [0.870, 0.970] |"
    assert other.startswith("| flipout | ~~0.910~~ [0.861, 0.958] |")


def test_seconds_are_those_of_a_seed_on_all_its_data():
    each = {"program": "regression", "method": "dvi", "seconds": 2.0}
    rows = [each | {"seed": 0, "data": name} for name in ("curve", "curve", "diabetes")]
    rows.append(each | {"seed": 1, "data": "curve", "seconds": None})
    assert tables.cost(rows).splitlines()[-1] == "| regression | dvi | 1 | 4 |"


def test_a_mean_of_tests_is_of_those_that_have_all_of_them(tmp_path):
    kinds = ("diabetes", "friedman1", "friedman2", "friedman3")
    results = [
        {"method": "ivon", "seed": seed, "data": kind, "seconds": 1.0}
        | {kind: {"negative_log_likelihood": float(number)}}
        for seed in (0, 1)
        for number, kind in enumerate(kinds)
        if (seed, kind) != (1, "friedman3")
    ]
    file = tmp_path / "tabular.json"
    file.write_text(json.dumps({"arguments": [], "results": results}))
    rows = tables.read("tabular", [file])
    (mean,) = [row for row in rows if row["test"] == "all"]
    assert (mean["seed"], mean["value"], mean["seconds"]) == (0, 1.5, None)
    assert tables.cost(rows).splitlines()[-1] == "| tabular | ivon | 2 | 4 |"
