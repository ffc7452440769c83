"""Tests of benchmarks.learning.suite.standings."""

import csv

import pytest

from agents.runs import history
from agents.study.compare import published
from benchmarks.learning.suite.standings import (
    METHODS,
    Standing,
    published_at_end,
    score_of,
    shown,
    standings,
)


def load(make_run, folder, seed, returns, **settings):
    settings = {"task": "cheetah_run", "transition": "reparameterization"} | settings
    return history.load(make_run(folder, seed, returns, every=50_000, **settings))


def test_a_run_scores_what_it_has_at_the_end_of_the_suite(make_run, tmp_path):
    run = load(make_run, tmp_path / "0", 0, [[1.0, 1.0], [10.0, 20.0], [99.0, 99.0]])
    assert score_of(run) == 15.0


def test_a_run_that_is_under_way_has_no_score(make_run, tmp_path):
    assert score_of(load(make_run, tmp_path / "0", 0, [[100.0]])) is None


def test_standings_tell_finished_runs_from_those_under_way(make_run, tmp_path):
    runs = [
        load(make_run, tmp_path / "2", 2, [[0.0], [5.0]]),
        load(make_run, tmp_path / "0", 0, [[0.0], [7.0]]),
        load(make_run, tmp_path / "1", 1, [[0.0]]),
        load(make_run, tmp_path / "d", 0, [[0.0], [9.0]], transition="deterministic"),
        load(make_run, tmp_path / "x", 0, [[0.0], [9.0]], task="walker_walk"),
    ]
    kinds = [("reparameterization", 4), ("deterministic", 1)]
    wanted = [
        ["task=cheetah_run", f"transition={kind}", f"seed={seed}"]
        for kind, count in kinds
        for seed in range(count)
    ]
    found = standings(runs, wanted)
    assert list(found) == [
        ("cheetah_run", "reparameterization"),
        ("cheetah_run", "deterministic"),
    ]
    first = found["cheetah_run", "reparameterization"]
    assert (first.scores, first.reached, first.wanted) == ({0: 7.0, 2: 5.0}, {1: 50_000}, 4)
    assert first.minutes == [1.0, 1.0]


def make_standing(task, transition, count):
    scores = dict(enumerate([1.0] * count))
    return Standing(task, transition, 5, scores, [1.0] * count, {}, [])


def test_of_a_task_the_default_with_more_seeds_is_shown_and_of_as_many_todays():
    found = [
        make_standing("more of then", "reparameterization", 5),
        make_standing("more of then", "laplace", 3),
        make_standing("as many", "laplace", 2),
        make_standing("as many", "reparameterization", 2),
        make_standing("today alone", "laplace", 1),
        make_standing("then alone", "laplace", 0),
        make_standing("then alone", "reparameterization", 1),
        make_standing("under way", "laplace", 0),
        make_standing("a twin", "deterministic", 5),
    ]
    found = {(each.task, each.transition): each for each in found}
    assert [(task, each.transition) for task, each in shown(found).items()] == [
        ("more of then", "reparameterization"),
        ("as many", "laplace"),
        ("today alone", "laplace"),
        ("then alone", "reparameterization"),
    ]


def test_published_means_are_those_of_the_end():
    means = published_at_end("cheetah_run")
    assert means["TD-MPC (own repeats)"] == pytest.approx(603, abs=1)
    assert "PlaNet" not in means


def test_every_method_that_is_named_was_published():
    with open(published._FILE, newline="") as file:
        assert {row["method"] for row in csv.DictReader(file)} >= METHODS.keys()
