"""Tests of agents.study.statistics.summaries."""

import numpy as np

from agents.study import statistics


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
