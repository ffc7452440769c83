"""The table of speed by TensorFlow version."""

import csv
import json
import subprocess
import sys

import pytest

from benchmarks.speed import tensorflows


def answered(monkeypatch, values):
    """Lets interpreters print these milliseconds, one after the other."""
    called = []

    def run(words, **settings):
        called.append(words)
        measured = {"import": 1.0, "step": values[words[0]].pop(0)}
        versions = {"python": "3", "tensorflow": words[0]}
        printed = json.dumps({"versions": versions, "measured": measured})
        return subprocess.CompletedProcess(words, 0, f"a notice\n{printed}\n", "")

    monkeypatch.setattr(subprocess, "run", run)
    return called


def test_ratios_are_of_a_round_and_interpreters_take_turns(monkeypatch):
    called = answered(monkeypatch, {"old": [1.0, 2.0, 4.0], "new": [2.0, 6.0, 4.0]})
    rows = tensorflows.measure_all(["old", "new"], rounds=3, repeats=1)
    assert [words[0] for words in called] == ["old", "new", "new", "old", "old", "new"]
    (step,) = [r for r in rows if r["case"] == "step" and r["tensorflow"] == "new"]
    assert (step["value"], step["over_first"]) == (4.0, 2.0)  # of 2, 6, 4 and 2, 3, 1
    assert (step["over_first_low"], step["over_first_high"]) == (1.5, 2.5)


def test_an_interpreter_that_fails_is_named(monkeypatch):
    failed = subprocess.CompletedProcess([], 1, "", "No module named tensorflow")
    monkeypatch.setattr(subprocess, "run", lambda *words, **settings: failed)
    with pytest.raises(SystemExit, match="mine -m benchmarks.*failed:\nNo module named"):
        tensorflows.measure_all(["mine"], rounds=1, repeats=1)


def test_an_interpreter_that_is_not_there_is_named():
    with pytest.raises(SystemExit, match="^benchmarks: /no/python does not start: No such"):
        tensorflows.measure_all(["/no/python"], rounds=1, repeats=1)


def test_the_page_has_the_part_where_the_csv_is(monkeypatch, tmp_path, capsys):
    answered(monkeypatch, {"old": [1.0], "new": [2.0]})
    words = ["old", "new", "--rounds", "1", "--folder", str(tmp_path)]
    assert tensorflows.section(tmp_path) == ""
    # Who asks git for the commit is not to be answered here.
    monkeypatch.setattr("benchmarks.measuring.report.provenance", lambda: FACTS)
    tensorflows.main(words)
    assert "| step | 1.00 | 2.00 (2.00 [2.00, 2.00]) |" in capsys.readouterr().out
    with open(tmp_path / "tensorflows.csv") as file:
        assert {row["tensorflow"] for row in csv.DictReader(file)} == {"old", "new"}
    part = tensorflows.section(tmp_path)
    assert part.startswith("<details><summary>Speed by TensorFlow version</summary>")
    assert "| case | TensorFlow old, Python 3 | TensorFlow new, Python 3 |" in part


FACTS = {"commit": "abc", "processor": "EPYC", "cores": 1, "libraries": {}}


def test_no_interpreter_is_a_mistake(capsys):
    with pytest.raises(SystemExit):
        tensorflows.main([])
    assert "name at least one interpreter" in capsys.readouterr().err


@pytest.mark.slow
def test_this_interpreter_is_measured():
    found = tensorflows.measure_all([sys.executable], rounds=1, repeats=1)
    cases = [row["case"] for row in found]
    assert "train step, cpu size: reparameterization" in cases
    assert any(case.startswith("first call, LSTM") for case in cases)
    assert all(row["value"] > 0 and row["over_first"] == 1 for row in found)
