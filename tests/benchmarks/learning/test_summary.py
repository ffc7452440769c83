"""Tests of benchmarks.learning.summary."""

import pytest

from agents.runs import records
from benchmarks.learning.summary import expectations, summarize


def test_groups_hold_how_weights_moved(make_run, tmp_path):
    runs = [
        make_run(tmp_path / "0", 0, [[1.0, 1.0], [10.0, 20.0]]),
        make_run(tmp_path / "1", 1, [[2.0, 2.0], [30.0, 50.0]]),
        make_run(tmp_path / "2", 0, [[5.0, 5.0]], transition="deterministic"),
    ]
    summary = summarize(runs)
    first, second = summary["groups"]
    assert first == {
        "task": "fake",
        "group": "transition=flipout",
        "weights": {"weight_kl/a": [10.0, 5.0]},
    }
    assert second["group"] == "transition=deterministic"
    assert summary["sources"] == [make_run.source]


def test_what_was_not_finite_is_no_value_of_a_weight(make_run, tmp_path):
    run = make_run(tmp_path / "0", 0, [[1.0], [2.0]])
    row = {"episodes": 3, "environment_steps": 3000, "train/weight_kl/a": float("nan")}
    records.append_metrics(run, row)
    (group,) = summarize([run])["groups"]
    assert group["weights"] == {"weight_kl/a": [10.0, 5.0]}


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
    two, three = expectations(runs).to_dict("records")
    assert (two["task"], two["seeds"], two["score"]) == ("fake from logs", 2, 200.0)
    assert (two["score_low"], two["score_high"]) == (100.0, 300.0)
    assert (three["task"], three["seeds"]) == ("fake_ending from logs", 3)
    assert (three["expected"], three["returned"]) == (10.0, 5.0)
    assert three["score"] == pytest.approx(1360 / 3)


def test_a_run_that_diverged_before_it_was_scored_is_no_seed(make_run, tmp_path):
    runs = [make_run(tmp_path / "0", 0, [[5.0]], data="logs")]
    runs.append(make_run(tmp_path / "1", 1, [], data="logs"))
    records.append_metrics(runs[1], {"episodes": 1, "environment_steps": 1000})
    (row,) = expectations(runs).to_dict("records")
    assert (row["seeds"], row["score"]) == (1, 5.0)


def test_runs_that_collected_have_no_row(make_run, tmp_path):
    assert expectations([make_run(tmp_path / "0", 0, [[1.0]])]).empty
