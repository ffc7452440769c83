"""Tests of benchmarks.learning.collected."""

import json

import pytest

from agents.runs import history, records
from benchmarks.learning.collected import collect, has_all_steps


def test_a_copy_tells_what_its_run_tells(make_run, tmp_path):
    run = make_run(tmp_path / "logdir" / "a", 3, [[1.0, 2.0], [3.0, 4.0]])
    (kept,) = collect(tmp_path / "logdir", tmp_path / "runs")
    assert kept == tmp_path / "runs" / "a"
    assert {file.name for file in kept.iterdir()} == {
        *("config.yaml", "scores.csv", "sessions.jsonl", "metrics.jsonl.gz")
    }
    ours, theirs = history.load(kept), history.load(run)
    logdir = f"{tmp_path}/logdir/a"
    assert ours.config == theirs.config | {"logdir": logdir}
    assert ours.scores == theirs.scores
    assert ours.metrics == theirs.metrics


def test_a_copy_names_no_folder_of_one_machine(make_run, tmp_path, monkeypatch):
    run = make_run(tmp_path / "logdir" / "a", 3, [[1.0]])
    for name in ("calibration.csv", "spread.csv"):
        (run / name).write_text(f"run,n\n{run},1\nlogdir/a,2\n/elsewhere,3\n")
    monkeypatch.chdir(tmp_path)
    (kept,) = collect("logdir", tmp_path / "runs")
    assert str(tmp_path) not in (kept / "config.yaml").read_text()
    for name in ("calibration.csv", "spread.csv"):
        expected = "run,n\nlogdir/a,1\nlogdir/a,2\n/elsewhere,3\n"
        assert (kept / name).read_text() == expected


def test_metrics_are_kept_to_five_digits_and_counts_whole(make_run, tmp_path):
    run = make_run(tmp_path / "logdir", 0, [[1.0]])
    row = {"episodes": 2, "environment_steps": 1234567, "loss": 0.123456789, "none": None}
    records.append_metrics(run, row)
    (kept,) = collect(tmp_path / "logdir", tmp_path / "runs")
    assert records.read_metrics(kept)[-1] == row | {"loss": 0.12346}


def test_the_same_run_gives_the_same_bytes(make_run, tmp_path):
    make_run(tmp_path / "logdir", 0, [[1.0]])
    files = [
        collect(tmp_path / "logdir", tmp_path / name)[0] / "metrics.jsonl.gz"
        for name in ("one", "two")
    ]
    assert files[0].read_bytes() == files[1].read_bytes()


def test_a_run_that_went_on_replaces_its_copy_and_one_begun_anew_does_not(
    make_run, tmp_path
):
    make_run(tmp_path / "a", 0, [[1.0], [2.0]])
    make_run(tmp_path / "b", 0, [[7.0]])
    make_run(tmp_path / "c", 0, [[3.0], [4.0], [5.0]])
    for folder, last in (("a", 2.0), ("b", 2.0), ("c", 5.0)):
        (kept,) = collect(tmp_path / folder, tmp_path / "runs")
        assert records.read_scores(kept)[-1]["return"] == last


def test_a_run_without_scores_is_kept_once_it_has_all_steps(make_run, tmp_path):
    for name, every in (("begun", 1000), ("done", 100_000)):
        run = make_run(tmp_path / "logdir" / name, 0, [[1.0]], every)
        (run / "scores.csv").unlink()
    (kept,) = collect(tmp_path / "logdir", tmp_path / "runs")
    assert kept == tmp_path / "runs" / "done"
    assert has_all_steps(kept)
    assert not has_all_steps(tmp_path / "logdir" / "begun")
    assert not has_all_steps(tmp_path / "nothing")


def test_what_was_measured_of_a_run_is_kept_too_forecasts_for_all_dimensions(
    make_run, tmp_path
):
    run = make_run(tmp_path / "logdir", 0, [[1.0]])
    (run / "probe.csv").write_text("target,r_squared\nx,0.5\n")
    (run / "calibration.csv").write_text("run,dimension,n\na,all,0.712345678\na,3,0.9\n")
    (kept,) = collect(tmp_path / "logdir", tmp_path / "runs")
    assert (kept / "probe.csv").read_text() == (run / "probe.csv").read_text()
    assert (kept / "calibration.csv").read_text() == "run,dimension,n\na,all,0.71235\n"


@pytest.mark.parametrize(
    ("seed", "returns"), [(0, [[1.0], [2.0]]), (1, [[1.0]])], ids=["gone on", "begun anew"]
)
def test_what_was_measured_elsewhere_stays_while_the_weights_are_the_same(
    make_run, tmp_path, seed, returns
):
    run = make_run(tmp_path / "logdir", 0, [[1.0]])
    for name in ("planners.csv", "spread.csv"):
        (run / name).write_text("run,n\na,1\n")
    (kept,) = collect(tmp_path / "logdir", tmp_path / "runs")
    for name in ("planners.csv", "spread.csv"):
        (run / name).unlink()
    collect(tmp_path / "logdir", tmp_path / "runs")
    assert (kept / "planners.csv").exists()
    assert (kept / "spread.csv").exists()
    make_run(tmp_path / "other", seed, returns)
    collect(tmp_path / "other", tmp_path / "runs")
    assert not (kept / "planners.csv").exists()
    assert not (kept / "spread.csv").exists()


def test_copies_stay_where_the_runs_are_gone(make_run, tmp_path):
    make_run(tmp_path / "logdir", 0, [[1.0]])
    kept = collect(tmp_path / "logdir", tmp_path / "runs")
    assert collect(tmp_path / "nothing", tmp_path / "runs") == kept
    assert json.loads((kept[0] / "sessions.jsonl").read_text())["commit"] == "abc"
