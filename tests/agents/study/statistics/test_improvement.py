"""Tests of agents.study.statistics.improvement and agents.study.statistics.profiles."""

import numpy as np
import scipy.stats

from agents.study.statistics import performance_profile, probability_of_improvement


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
