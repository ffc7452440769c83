"""Tests of benchmarks.learning.suite.tables."""

import numpy as np
import pytest

from agents.runs import history, records
from benchmarks.learning.suite import tables as suite_tables
from benchmarks.learning.suite.standings import Standing
from benchmarks.learning.suite.tables import against, difference, tables


@pytest.fixture(autouse=True)
def _published(monkeypatch):
    means = {
        "a": {"TD-MPC2": 500.0, "MR.Q": 1.0},
        "b": {"TD-MPC2": 0.0},
        "c": {"MR.Q": 9.0},
    }
    monkeypatch.setattr(suite_tables, "published_at_end", means.get)


def test_scores_are_told_with_the_commits_of_their_runs(make_run, tmp_path):
    runs = [history.load(make_run(tmp_path / f"{n}", n, [[1.0]])) for n in range(3)]
    for seed, commit in ((1, "0123456789"), (2, "of a run under way")):
        started = {"episodes": 0, "environment_steps": 0, "commit": commit}
        (tmp_path / f"{seed}/sessions.jsonl").unlink()
        records.append_session(tmp_path / f"{seed}", make_run.source | started)
    kind = "reparameterization"
    some = Standing("a", kind, 5, {0: 1.0, 1: 2.0}, [20.0] * 2, {2: 10}, runs)
    (row,) = tables({("a", kind): some})["scores"]
    assert row["commits"] == "abc, 0123456"


def make_standing(task, *scores, transition="reparameterization", wanted=5):
    return Standing(
        task, transition, wanted, dict(enumerate(scores)), [20.0] * len(scores), {}, []
    )


def test_a_method_is_compared_on_the_tasks_that_it_has():
    own = {task: np.array([200.0, 300.0]) for task in "abc"}
    row = against(own, "TD-MPC2")
    assert (row["above"], row["n"], row["runs"]) == (1, 2, 4)
    assert (row["least"], row["least_task"]) == (0.5, "a")
    assert (row["published"], row["iqm"]) == (250.0, 250.0)
    assert row["iqm_low"] == 200.0
    assert row["iqm_high"] == 300.0
    # 500 and 0 were published
    assert (row["ahead"], row["ahead_low"], row["ahead_high"]) == (0.0, -50.0, 50.0)
    assert (row["greatest_task"], row["ahead_elsewhere"]) == ("b", -250.0)


def test_a_mean_is_surely_higher_where_an_interval_of_enough_seeds_is():
    own = {"a": np.array([200.0, *4 * [600.0]]), "b": np.array([1.0, 3.0, 4.0, 2.0, 5.0])}
    row = against(own, "TD-MPC2")
    assert (row["above"], row["surely"]) == (2, 1)
    assert against({"b": own["b"][:4]}, "TD-MPC2")["surely"] == 0


def test_another_method_stands_in_where_one_has_no_score():
    own = {task: np.array([250.0]) for task in "abc"}
    row = against(own, "TD-MPC2", stand_in="MR.Q")
    assert (row["above"], row["n"], row["stand_in"]) == (2, 3, "MR.Q")
    assert against({"b": np.array([1.0])}, "MR.Q") is None


def test_tasks_weigh_alike_whatever_their_seeds():
    own = {"a": np.array([0.0, 0.0, 0.0]), "b": np.array([6.0])}
    assert against(own, "TD-MPC2")["iqm"] == 3.0


def test_a_difference_that_no_draw_of_seeds_changes_has_no_width():
    row = difference([np.array([5.0, 5.0])], [np.array([2.0, 2.0, 2.0])])
    assert row == {"difference": 3.0, "difference_low": 3.0, "difference_high": 3.0}


def test_the_difference_over_tasks_is_the_mean_of_theirs():
    ours, theirs = (np.array([5.0, 7.0]), np.array([1.0, 1.0])), (np.zeros(2), np.zeros(3))
    row = difference(ours, theirs)
    assert row["difference"] == 3.5
    assert (row["difference_low"], row["difference_high"]) == (3.0, 4.0)


def test_tables_have_what_is_finished():
    found = [
        make_standing("a", 1.0, 2.0, 3.0, 4.0, 15.0),
        make_standing("b", 8.0, wanted=1),
        make_standing("c"),
        make_standing("a", 1.0, 2.0, transition="deterministic", wanted=3),
        make_standing("c", 1.0, transition="deterministic", wanted=3),
    ]
    parts = tables({(each.task, each.transition): each for each in found})
    scores = [(row["task"], row["seeds"], row["wanted"]) for row in parts["scores"]]
    assert scores == [("a", 5, 5), ("b", 1, 1), ("a", 2, 3), ("c", 1, 3)]
    first = parts["scores"][0]
    assert (first["mean"], first["iqm"], first["each_seed"]) == (5.0, 3.0, "1, 2, 3, 4, 15")
    assert first["minutes"] == 20.0
    assert first["commits"] == ""
    counts = {(row["tasks"], row["method"]): row["n"] for row in parts["against"]}
    assert counts["core", "TD-MPC2"] == 1
    assert counts["core and 1 more", "TD-MPC2"] == 2
    (twin,) = parts["pairs"]
    assert (twin["task"], twin["difference"], twin["than_seeds"]) == ("a", 3.5, 2)


def test_a_task_is_of_the_core_whichever_default_is_shown():
    found = [
        make_standing("a", 1.0, 2.0, 3.0, transition="laplace", wanted=3),
        make_standing("a", 4.0, 5.0, wanted=5),
        make_standing("b", 8.0, wanted=1),
    ]
    rows = tables({(each.task, each.transition): each for each in found})["against"]
    counts = {row["tasks"]: row["n"] for row in rows if row["method"] == "TD-MPC2"}
    assert counts == {"core": 1, "core and 1 more": 2}


def test_twins_over_tasks_have_the_fewest_seeds_of_a_task():
    found = [
        make_standing(task, *range(seeds), transition=kind)
        for task, many, few in (("a", 5, 3), ("b", 5, 2))
        for kind, seeds in (("reparameterization", many), ("deterministic", few))
    ]
    rows = tables({(each.task, each.transition): each for each in found})["pairs"]
    assert rows[-1]["task"] == "mean over tasks"
    assert (rows[-1]["seeds"], rows[-1]["than_seeds"]) == (5, 2)


def test_runs_of_today_stand_beside_those_of_the_default_of_then_alone():
    found = [
        make_standing("a", 5.0, 7.0, transition="laplace", wanted=2),
        make_standing("a", 1.0, 2.0),
        make_standing("a", 9.0, transition="deterministic"),
        make_standing("b", 8.0, transition="laplace"),
        make_standing("c", transition="laplace"),
        make_standing("c", 1.0),
    ]
    row, *others = tables({(each.task, each.transition): each for each in found})["pairs"]
    assert [(each["transition"], each["than"]) for each in (row, *others)] == [
        ("laplace", "reparameterization"),
        ("reparameterization", "deterministic"),
    ]
    assert (row["task"], row["mean"], row["than_mean"]) == ("a", 6.0, 1.5)
    assert (row["difference_low"], row["difference_high"]) == (3.0, 6.0)
