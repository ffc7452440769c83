"""Tests of benchmarks.learning.summary."""

from agents.runs import records
from benchmarks.learning.summary import summarize


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
