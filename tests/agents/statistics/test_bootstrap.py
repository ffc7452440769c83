"""Tests of agents.statistics.bootstrap."""

import numpy as np
import pytest

from agents.statistics import interval, median
from agents.statistics.bootstrap import edges


def mean(values):
    return np.mean(values, axis=-1)


def test_interval_of_a_mean_has_the_width_of_theory():
    values = np.random.default_rng(0).normal(size=200)
    lower, upper = interval([values], mean)
    expected = values.mean() + 1.96 * values.std() / np.sqrt(200) * np.array([-1, 1])
    np.testing.assert_allclose([lower, upper], expected, atol=0.006)


def test_seeds_of_a_task_are_drawn_from_that_task():
    tasks = [np.zeros(5), np.ones(5)]  # any other drawing would vary the mean
    assert interval(tasks, mean) == (0.5, 0.5)


def test_points_of_a_curve_keep_their_seeds():
    first = np.random.default_rng(0).normal(size=8)
    lower, upper = interval([np.stack([first, -first, first])], mean)
    assert lower[0] == lower[2] == -upper[1]


def test_one_seed_has_no_interval():
    assert np.isnan(interval([[3.0], [1.0, 2.0]], mean)).all()


def test_runs_that_never_found_keep_the_edge_infinite():
    lower, upper = interval([np.array([3.0, 5.0, 7.0, np.inf, np.inf])], median)
    assert (lower, upper) == (3.0, np.inf)


def test_more_confidence_is_wider():
    values = np.random.default_rng(0).normal(size=20)
    wide, narrow = (interval([values], mean, c) for c in (0.99, 0.5))
    assert wide[0] < narrow[0] < narrow[1] < wide[1]


@pytest.mark.parametrize(("confidence", "expected"), [(0.8, [1, 9]), (1.0, [0, 10])])
def test_edges_leave_out_equally_many_at_both_ends(confidence, expected):
    assert list(edges(np.arange(11), confidence)) == expected
