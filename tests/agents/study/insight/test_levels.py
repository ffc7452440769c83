"""Tests of agents.study.insight.levels."""

import numpy as np
import pytest
from scipy import integrate
from tensorflow_probability import distributions as tfd

from agents.study.insight.levels import SHARES, WithLevels, fit_levels, level_before


@pytest.fixture
def table():
    """Of truths that are nearer to the median than half of the forecast's spread."""
    levels = np.random.default_rng(0).beta(1.0, 3.0, [500, 1])
    return fit_levels(levels)


def test_levels_of_right_forecasts_stay():
    levels = np.linspace(0, 1, 1001)[:, np.newaxis]
    np.testing.assert_allclose(fit_levels(levels)[:, 0], SHARES, atol=1e-5)


def test_levels_ascend_even_where_all_that_came_had_the_same():
    table = fit_levels(np.ones([20, 2]))
    assert np.all(np.diff(table, axis=0) > 0)
    assert table[-1].tolist() == [1.0, 1.0]


def test_the_share_below_a_level_is_that_of_what_came():
    levels = np.random.default_rng(0).uniform(size=[2000, 1]) ** 2
    for share in (0.25, 0.5, 0.97):
        inside = np.mean(levels <= level_before(share, fit_levels(levels)))
        assert inside == pytest.approx(share, abs=0.02)


def test_the_density_is_the_slope_of_the_distribution_and_integrates_to_one(table):
    forecast = WithLevels(tfd.StudentT(np.float64(4.0), [[[[1.0]]]], 2.0), table[None])

    def below(x):
        return forecast.cdf(np.reshape(x, [-1, 1, 1, 1])).numpy().ravel()

    x = np.linspace(-2, 2.5, 200_001)  # many: the density jumps where the table bends
    density = np.exp(forecast.log_prob(x[:, None, None, None]).numpy().ravel())
    mass = integrate.cumulative_trapezoid(density, x, initial=0)
    np.testing.assert_allclose(mass, below(x) - below(x[0]), atol=1e-4)
    np.testing.assert_allclose(below([-1e6, 1.0, 1e6]), [0, 0.5, 1], atol=1e-4)


def test_each_step_and_dimension_has_its_own_table():
    one = SHARES[:, np.newaxis]
    tables = np.stack([np.concatenate([one, one**2], 1), np.concatenate([one**3, one], 1)])
    base = tfd.Normal(np.zeros([1, 2, 1, 2]), 1.0)
    at = base.quantile((1 + SHARES[5] ** 2) / 2)  # level .25
    found = 2 * WithLevels(base, tables).cdf(at).numpy()[0, :, 0] - 1
    wanted = [[0.25, 0.5], [np.interp(0.25, SHARES**3, SHARES), 0.25]]
    np.testing.assert_allclose(found, wanted, atol=1e-12)
