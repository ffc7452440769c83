"""Tests of agents.study.statistics.curves."""

import numpy as np

from agents.study import statistics


def test_align_keeps_the_last_value_where_all_seeds_are():
    steps, values = statistics.align([([1, 3, 5], [1, 3, 5]), ([2, 3, 9], [20, 30, 90])])
    assert steps.tolist() == [2, 3, 5]
    assert values.tolist() == [[1, 20], [3, 30], [5, 30]]


def test_seeds_that_never_meet_give_no_points():
    curves = [([1, 2], np.ones([2, 3])), ([5], np.ones([1, 3]))]
    steps, values = statistics.align(curves)
    assert steps.size == 0
    assert all(edge.shape == (0,) for edge in statistics.spread(values))
    flat = [(steps, values[:, 0]) for steps, values in curves]
    assert all(part.size == 0 for part in statistics.sample_efficiency([flat]))


def test_sample_efficiency_is_the_statistic_at_each_step():
    random = np.random.default_rng(0)
    tasks = [[(np.arange(4), random.normal(size=4)) for _ in range(n)] for n in (4, 6)]
    steps, middle, lower, upper = statistics.sample_efficiency(tasks)
    assert steps.tolist() == [0, 1, 2, 3]
    scores = [np.stack([values[2] for _, values in curves]) for curves in tasks]
    whole = np.concatenate(scores)
    np.testing.assert_allclose(middle[2], np.sort(whole)[2:8].mean())
    expected = statistics.interval(scores, statistics.interquartile_mean)
    np.testing.assert_allclose([lower[2], upper[2]], expected, atol=0.1)
    assert (lower <= middle).all()
    assert (middle <= upper).all()
