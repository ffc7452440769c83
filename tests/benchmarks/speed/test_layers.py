"""The benchmark runs, at a tiny size; how fast things are is never asserted."""

import csv

import pytest

from benchmarks.speed import layers

TINY = 1 / 64


@pytest.mark.slow
def test_all_cases_are_measured_and_saved(tmp_path, capsys):
    options = ["--repeats", "1", "--threads", "0", "--only", "tch 2", "--folder"]
    layers.main([*options, str(tmp_path)], scale=TINY)
    with open(tmp_path / "layers.csv") as file:
        rows = list(csv.DictReader(file))
    cases = [(x.group, x.name) for x in layers.all_cases(TINY) if "tch 2" in x.group]
    assert [(row["group"], row["case"]) for row in rows] == cases
    assert all(float(row["milliseconds"]) >= 0 for row in rows)
    assert "Conv2DFlipout" in capsys.readouterr().out
    assert "Conv2DFlipout" in (tmp_path / "layers.md").read_text()


def test_the_reference_is_the_first_case_of_every_group_but_the_kl():
    first = {}
    for case in layers.all_cases(TINY):
        first.setdefault(case.group, case)
    references = [case.name for group, case in first.items() if "KL" not in group]
    assert set(references) == {"Keras"}
    (row,) = layers.run([x for x in layers.all_cases(TINY) if "KL" in x.group], repeats=1)
    assert row["over_reference"] is None
    assert row["milliseconds"] > 0


def test_what_is_chosen_keeps_what_it_stands_beside():
    cases = layers.all_cases(TINY)
    chosen = layers.choose(cases, "Conv2DFlipout")
    assert [case.name for case in chosen] == ["Keras", "Conv2DFlipout"] * 2
    assert layers.choose(cases, "") == cases
    assert layers.choose(cases, "elephant") == []


def test_the_sizes_are_those_of_the_table():
    groups = {case.group for case in layers.all_cases()}
    assert groups == {
        "dense 512-512-10, batch 256",
        "dense 512-512-10, batch 256, XLA",
        "convolution 32-32 on 32x32x32, batch 64",
        "convolution 32-32 on 32x32x32, batch 64, XLA",
        "LSTM 128 over 50 steps, batch 64",
        "LSTM 128 over 50 steps, batch 64, XLA",
        "KL of a 256x256 layer, eager",
    }


def test_a_name_without_cases_ends_with_one_line():
    with pytest.raises(SystemExit, match="no case has 'elephant' in its name"):
        layers.main(["--only", "elephant", "--threads", "0"])
