"""Tests of agents.study.statistics."""

import numpy as np
import pytest
import scipy.stats

from agents.study import statistics
from agents.study.statistics import (
    edges,
    interval,
    interval_over_parts,
    median,
    performance_profile,
    probability_of_improvement,
)


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


def test_edges_between_two_values_are_the_outer():
    assert edges(np.arange(10.0), 0.8) == (0, 9)


def test_parts_are_drawn_whole():
    """All that varies is between parts: as if each were a single value."""
    middles = np.random.default_rng(0).normal(size=40)
    value, lower, upper = interval_over_parts(np.mean, [[np.full(9, m) for m in middles]])
    assert value == pytest.approx(middles.mean())
    error = 1.96 * middles.std() / np.sqrt(40)
    np.testing.assert_allclose([lower, upper], value + [-error, error], atol=0.08)


def test_parts_without_the_statistic_are_left_out_and_one_has_no_interval():
    def ratio(values):
        return values.max() if values.any() else np.nan

    parts = [np.zeros(3), np.ones(3)]
    assert interval_over_parts(ratio, [parts]) == (1.0, 1.0, 1.0)
    assert np.isnan(interval_over_parts(ratio, [parts[1:]])[1:]).all()
    assert np.isnan(interval_over_parts(ratio, [parts[:1] * 2])).all()


def test_there_are_as_many_parts_of_each_kind_in_every_draw():
    """Kinds that differ in level, each the same all over, leave nothing open."""
    low, high = [np.zeros(3)] * 4, [np.ones(3)] * 12
    assert interval_over_parts(np.mean, [low, high]) == (0.75, 0.75, 0.75)
    value, *edges_of = interval_over_parts(np.mean, [low, high[:1]])
    assert value == 0.2
    assert np.isnan(edges_of).all()


def test_an_interval_over_kinds_is_as_wide_as_the_means_of_both_vary():
    random = np.random.default_rng(0)
    kinds = [[np.full(5, m) for m in random.normal(mean, 1, 40)] for mean in (0, 50)]
    _, lower, upper = interval_over_parts(np.mean, kinds)
    within = [np.std([part[0] for part in some]) for some in kinds]
    error = 1.96 * np.hypot(*within) / 2 / np.sqrt(40)
    assert (upper - lower) / 2 == pytest.approx(error, rel=0.15)


def test_an_interval_of_five_seeds_holds_the_mean_of_many_in_about_85_of_100_cases():
    """What results/ say of whole intervals above another mean."""
    drawn = np.random.default_rng(0).normal(size=[400, 5])
    edges_of = np.array([interval([values], mean) for values in drawn])
    held = np.mean((edges_of[:, 0] < 0) & (edges_of[:, 1] > 0))
    assert held == pytest.approx(0.85, abs=3 * np.sqrt(0.85 * 0.15 / 400))


def test_interquartile_mean_leaves_out_a_quarter_at_each_end():
    values = np.array([[-99.0, 1, 2, 3, 4, 5, 6, 999], np.arange(8.0)])
    np.testing.assert_allclose(statistics.interquartile_mean(values), [3.5, 3.5])
    assert statistics.interquartile_mean([1.0, 2.0, 6.0]) == 3.0, "3 values: the mean"


def test_spread_is_over_seeds_and_episodes_without_nan():
    values = np.arange(202.0).reshape(1, 2, 101)
    median, low, high = statistics.spread(values)
    assert median == [100.5]
    np.testing.assert_allclose([low[0], high[0]], [0.05 * 201, 0.95 * 201])
    values[0, 1] = np.nan
    assert statistics.spread(values)[0] == [50.0]


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


def test_equal_groups_are_even():
    scores = [np.arange(5.0), np.ones(4)]
    probability, lower, upper = probability_of_improvement(scores, scores)
    assert probability == 0.5
    assert lower < 0.5 < upper


def test_of_one_task_it_is_the_u_of_mann_and_whitney():
    random = np.random.default_rng(1)
    ours, theirs = random.integers(5, size=7), random.integers(5, size=4)
    expected = scipy.stats.mannwhitneyu(ours, theirs).statistic / 28
    np.testing.assert_allclose(probability_of_improvement([ours], [theirs])[0], expected)


def test_it_is_certain_where_every_run_is_better():
    assert probability_of_improvement([[3, 4]], [[1, 2]]) == (1.0, 1.0, 1.0)


def test_a_single_seed_has_no_interval():
    probability, *edges = probability_of_improvement([[3]], [[1, 2]])
    assert probability == 1.0
    assert np.isnan(edges).all()


def test_profile_of_a_single_seed_has_no_interval():
    share, *edges = performance_profile([[0.5]], [0.0, 1.0])
    assert share.tolist() == [1.0, 0.0]
    assert np.isnan(edges).all()
