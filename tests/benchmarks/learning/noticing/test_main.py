"""Tests of benchmarks.learning.noticing.__main__."""

import dataclasses

import pytest

from agents.system.errors import UserError
from benchmarks.learning.noticing import __main__ as main


def test_a_task_that_did_not_change_surprises_as_much(monkeypatch, make_agent):
    """The same episodes, by the same seeds: each area is a half."""
    config, agent = make_agent("laplace")
    monkeypatch.setattr(main, "load_agent", lambda folder: (config, agent))
    monkeypatch.setattr(main, "CHANGES", {("small", "mass"): {"mass": 1.0}})
    monkeypatch.setattr(main, "DECISIONS", (10, 20))  # the task's own limit
    areas, forecasts = main.of_run("run", 3)
    assert {row["surprise"] for row in areas} == {*main.KINDS}
    assert {row["decisions"] for row in areas} == {10, 20}
    assert all(row["auroc"] == 0.5 for row in areas)
    assert [row["change"] for row in forecasts] == ["none", "none", "mass", "mass"]
    before, after = forecasts[0], forecasts[2]
    assert before["kind"] == after["kind"] == "draws"
    assert before["came"] == pytest.approx(after["came"])


def test_a_change_that_surprises_more_has_an_area_above_a_half(monkeypatch, make_agent):
    def act(config, agent, policies, physics, episodes):
        return {("spread", 10): [3.0, 4.0] if physics else [1.0, 2.0, 3.5]}, []

    monkeypatch.setattr(main, "load_agent", lambda folder: make_agent("deterministic"))
    monkeypatch.setattr(main, "_act", act)
    areas, _ = main.of_run("run", 3)
    assert [row["auroc"] for row in areas] == [pytest.approx(5 / 6)] * len(main.CHANGES)


def test_a_run_without_a_policy_foresees_nothing(monkeypatch, make_agent):
    config, agent = make_agent("deterministic")
    without = dataclasses.make_dataclass("Agent", ["value"])(None)
    monkeypatch.setattr(main, "load_agent", lambda folder: (config, without))
    with pytest.raises(UserError, match="run has value=none"):
        main.of_run("run", 3)


def test_what_is_no_run_is_told_in_a_line(tmp_path):
    with pytest.raises(SystemExit, match="none is not the folder of a run"):
        main.main([str(tmp_path / "none"), "--out", str(tmp_path / "out")])
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("option", ["--episodes", "--jobs"])
def test_a_number_that_is_too_small_is_told_in_a_line(tmp_path, capsys, option):
    with pytest.raises(SystemExit):
        main.main(["run", option, "0", "--out", str(tmp_path / "out")])
    assert f"argument {option}: " in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_areas_are_averaged_over_seeds_changes_and_tasks():
    rows = [
        {
            "task": task,
            "seed": seed,
            "size": "small",
            "change": change,
            "decisions": 10,
            "surprise": kind,
            "auroc": 0.5
            + 0.1 * seed
            + 0.1 * (change == "gain")
            + 0.05 * (kind == "log density, draws"),
        }
        for task in ("reacher_easy", "cheetah_run")
        for seed in (0, 1, 2)
        for change in ("mass", "gain")
        for kind in ("log density, draws", "log density")
    ]
    table = main.summed_up(rows).set_index(["task", "change", "surprise"])
    assert len(table) == 3 * 3 * 3
    row = table.loc["all tasks", "all changes", "log density, draws"]
    assert row["auroc"] == pytest.approx(0.7)
    assert row["auroc_low"] < 0.7 < row["auroc_high"]
    assert row["seeds"] == 3
    assert table.loc["cheetah_run", "gain", "log density"]["auroc"] == pytest.approx(0.7)
    difference = table.loc[
        "all tasks", "all changes", "log density, draws minus log density"
    ]
    assert difference["auroc"] == pytest.approx(0.05)
    assert difference["auroc_low"] == pytest.approx(0.05)  # no seed differs


def test_forecasts_are_averaged_over_seeds_and_tasks():
    rows = [
        {
            "task": task,
            "seed": seed,
            "size": "none",
            "change": "none",
            "kind": kind,
            "covered": 0.5 + 0.1 * seed + 0.2 * (kind == "draws"),
            "width": 2.0,
            "interval_score": 4.0,
            "forecast": 1.0,
            "came": 3.0,
        }
        for task in ("reacher_easy", "cheetah_run")
        for seed in (0, 1, 2)
        for kind in ("draws", "mean weights")
    ]
    table = main.forecasts_summed_up(rows).set_index(["task", "kind"])
    assert len(table) == 3 * 3
    row = table.loc["all tasks", "mean weights"]
    assert row["covered"] == pytest.approx(0.6)
    assert row["covered_low"] < 0.6 < row["covered_high"]
    assert (row["width"], row["width_low"], row["came"], row["seeds"]) == (2.0, 2.0, 3.0, 3)
    difference = table.loc["all tasks", "draws minus mean weights"]
    assert difference["covered"] == pytest.approx(0.2)
    assert difference["width"] == 0.0
