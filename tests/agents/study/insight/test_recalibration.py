"""Tests of agents.study.insight.recalibration."""

import dataclasses

import numpy as np
import pytest
from scipy import integrate, optimize
from tensorflow_probability import distributions as tfd

from agents.study.insight.calibration import LEVELS, score
from agents.study.insight.forecasts import ForecastTimes, broadest
from agents.study.insight.recalibration import (
    SHARES,
    Recalibration,
    WithLevels,
    _around,
    _loss,
    fit,
    fit_levels,
    fit_to,
    level_before,
    moments,
)
from tests.agents.study.insight.test_forecasts import SEED

DRAWS, EACH, STARTS = 20, 5, 800
STEP = np.array([1])
ONES = np.ones([3, 2])
AS_THEY_ARE = SHARES[:, np.newaxis] * ONES[:, np.newaxis]
TRUE = Recalibration(
    DRAWS,
    0.3 * ONES,
    [0.2, 0.6] * ONES,
    4 * ONES,
    0.5 * ONES,
    2 * ONES,
    AS_THEY_ARE,
    ONES,
)


def forecast(seed):
    """Components [K, 1, starts, 2]; how far draws differ is of each start."""
    rng = np.random.default_rng(seed)
    spread = rng.choice([0.1, 1.0, 3.0], [STARTS, 1])
    of_draw = spread * rng.normal(size=[DRAWS, 1, 1, STARTS, 2])
    each = 0.4 * spread[::-1] * rng.normal(size=[DRAWS, EACH, 1, STARTS, 2])
    return (of_draw + each).reshape(DRAWS * EACH, 1, STARTS, 2)


def truths(components, seed):
    rng = np.random.default_rng(seed)
    true = TRUE.student(components, STEP)
    drawn = rng.standard_t(4.0, true.loc.shape)
    return (true.loc + true.scale * drawn).numpy()[0]


@pytest.fixture(scope="module")
def fitted():
    components = forecast(seed=0)
    return fit_to(components, truths(components, seed=1), DRAWS)


def test_search_follows_the_gradient_of_its_loss():
    rng = np.random.default_rng(0)
    given = (rng.normal(size=30), rng.uniform(size=30), rng.uniform(size=30))
    point = np.array([0.2, -0.5, 1.0, -0.3, 0.4])
    _, gradient = _loss(point, *given)
    expected = optimize.approx_fprime(point, lambda x: _loss(x, *given)[0], 1e-6)
    np.testing.assert_allclose(gradient, expected, atol=1e-5)


def test_fit_finds_what_the_truths_were_drawn_from(fitted):
    np.testing.assert_allclose(fitted.shift[0], 0.3, atol=0.1)
    np.testing.assert_allclose(fitted.epistemic[0], 2.0, rtol=0.2)
    np.testing.assert_allclose(fitted.stddev[0], TRUE.stddev[0], rtol=0.5)
    assert np.all((fitted.tails[0] > 2.5) & (fitted.tails[0] < 8))


def test_intervals_of_other_forecasts_hold_what_they_say(fitted):
    components = forecast(seed=2)
    truth = truths(components, seed=3)
    coverage = score([fitted(components, STEP)], truth).coverage.mean(axis=-1)[0]
    for level in (0.5, 0.8, 0.95):
        low, high = fitted.interval(components, STEP, level)
        inside = np.mean((low <= truth) & (truth <= high))
        assert coverage[LEVELS.index(level)] == pytest.approx(inside)
        assert inside == pytest.approx(level, abs=0.04)


def test_intervals_hold_where_errors_have_two_humps():
    """As of a gait whose phase is off: the middle of the forecast is what never comes."""
    rng = np.random.default_rng(5)
    side = rng.choice([-1.0, 1.0], [2, 1, STARTS, 2])
    truths = side + 0.3 * rng.normal(size=side.shape)
    components = np.zeros([DRAWS, 1, STARTS, 2])
    found = fit_to(components, truths[0], DRAWS)
    by_student = score([found.student(components, STEP)], truths[1])
    mended = score([found(components, STEP)], truths[1])
    half = LEVELS.index(0.5)
    assert by_student.coverage[0, half].max() < 0.4
    np.testing.assert_allclose(mended.coverage[0, half], 0.5, atol=0.06)
    lost = by_student.negative_log_likelihood - mended.negative_log_likelihood
    assert lost.min() > 0.3


def test_intervals_hold_at_each_step_where_errors_grow_from_one_to_the_next():
    rng = np.random.default_rng(6)
    growth = np.array([1.0, 2.0, 4.0, 8.0])[:, np.newaxis, np.newaxis]
    truths = growth * (1.0 + rng.normal(size=[2, 4, STARTS, 1]))
    components = np.zeros([DRAWS, 4, STARTS, 1])
    found = fit_to(components, truths[0], DRAWS)
    mended = score([found(components, np.arange(1, 5))], truths[1])
    np.testing.assert_allclose(mended.coverage[:, LEVELS.index(0.5)], 0.5, atol=0.06)
    np.testing.assert_allclose(mended.coverage[:, LEVELS.index(0.8)], 0.8, atol=0.05)


@pytest.mark.parametrize("stddev", [0.5, 2.0])
def test_what_the_means_of_draws_differ_by_from_chance_is_taken_away(stddev):
    rng = np.random.default_rng(0)
    count = 40_000
    of_draw = stddev * rng.normal(size=[DRAWS, 1, count])
    components = (of_draw + rng.normal(size=[DRAWS, EACH, count])).reshape(-1, count)
    _, between, within = moments(components, DRAWS)
    true = stddev**2 * (1 - 1 / DRAWS)
    error = np.sqrt(2 / DRAWS / count) * (stddev**2 + 1 / EACH)
    assert between.mean() == pytest.approx(true, abs=4 * error)
    error = np.sqrt(2 / DRAWS / (EACH - 1) / count)
    assert within.mean() == pytest.approx(1.0, abs=4 * error)


def test_mean_weights_have_no_variance_between_draws():
    components = np.random.default_rng(0).normal(size=[100, 30])
    mean, between, within = moments(components, 0)
    np.testing.assert_allclose(mean, components.mean(axis=0))
    np.testing.assert_allclose(within, components.var(axis=0, ddof=1))
    assert not between.any()
    _, between, within = moments(components, 100)
    np.testing.assert_allclose(between, components.var(axis=0))
    assert not within.any()


def test_further_ahead_than_was_fitted_all_is_as_at_the_last_step():
    numbers = np.array([1.0, 4.0, 10.0])[:, np.newaxis]
    given = 0 * numbers, numbers, *np.ones([3, 3, 1]), AS_THEY_ARE, numbers
    mended = Recalibration(0, *given).student(np.zeros([10, 3, 1, 1]), np.array([1, 3, 50]))
    np.testing.assert_allclose(mended.scale[0, :, 0, 0], [1.0, 10.0, 10.0])


def test_draws_are_widened_as_much_as_intervals_are_wider_than_they(fitted):
    components = forecast(seed=2)
    low, high = fitted.interval(components, STEP, 0.95)
    _, of_draws, _ = moments(components, DRAWS)
    expected = np.sqrt(np.mean((high - low) ** 2, axis=1) / np.mean(of_draws, axis=1)) / 4
    np.testing.assert_allclose(fitted.widening, expected, rtol=0.1)
    certain = fit_to(0 * components, truths(components, seed=1), DRAWS)
    np.testing.assert_array_equal(certain.widening, 1.0)


def test_readings_are_expected_where_draws_widened_by_the_median_say():
    values = np.array([1.0, 3.0])[:, np.newaxis, np.newaxis] * np.ones([2, 4, 1])
    factors = np.array([[2.0, 9.0, 1.0], [3.0, 3.0, 0.0], [1.0, 1.0, 1.0]])
    wide = dataclasses.replace(TRUE, shift=factors, widening=factors)
    low, high = wide.interval_of_readings(values, context=2)
    np.testing.assert_allclose(low[:, 0], [np.nan, np.nan, -2.0, -4.0])
    np.testing.assert_allclose(high[:, 0], [np.nan, np.nan, 6.0, 8.0])


@pytest.fixture(scope="module")
def episodes(make_episodes):
    return make_episodes(np.zeros([2, 15]))


def test_fit_of_a_model_is_that_of_its_broadest_forecasts(make_model, episodes):
    wide = make_model("posterior_scale=1.0")
    times = ForecastTimes(wide, episodes)
    draws, components = next(broadest(wide, episodes, times, SEED))
    assert (draws, len(components)) == (DRAWS, DRAWS * EACH)
    mixed = components.reshape(DRAWS, EACH, *components.shape[1:])
    mixed = np.swapaxes(mixed, 0, 1).reshape(components.shape)
    assert moments(components, draws)[1].mean() > 2 * moments(mixed, draws)[1].mean()
    found = fit(wide, episodes, SEED)
    assert (found.draws, found.stddev.shape) == (DRAWS, (len(times.steps), 2))


def test_forecasts_of_certain_weights_are_of_no_draws(make_model, episodes):
    assert fit(make_model("transition=deterministic"), episodes, SEED).draws == 0


def test_pictures_stay_as_they_are(make_model, episodes):
    assert fit(make_model(image_size=32), episodes, SEED) is None


@pytest.mark.parametrize(
    ("step", "expected"), [(0, (0, 1)), (4, (0, 9)), (6, (4, 9)), (8, (8, 9))]
)
def test_as_many_steps_are_before_a_step_as_after_it(step, expected):
    assert _around(step, 9, 25) == slice(*expected)


def test_few_episodes_are_fitted_to_with_the_steps_around():
    """As many on both sides: a fit to those of one would be off by what errors grow by."""
    rng = np.random.default_rng(7)
    growth = np.linspace(1.0, 3.0, 9)[:, np.newaxis, np.newaxis]
    few = growth * rng.normal(size=[9, 25, 1])
    many = growth * rng.normal(size=[9, STARTS, 1])
    found = fit_to(np.zeros([DRAWS, 9, 25, 1]), few, DRAWS)
    components, steps = np.zeros([DRAWS, 9, STARTS, 1]), np.arange(1, 10)
    coverage = score([found(components, steps)], many).coverage
    np.testing.assert_allclose(coverage[4, LEVELS.index(0.8)], 0.8, atol=0.08)
    alone = fit_to(np.zeros([DRAWS, 1, 25, 1]), few[4:5], DRAWS)
    by_one = score([alone(components[:, :1], STEP)], many[4:5])
    by_all = score([found(components[:, 4:5], np.array([5]))], many[4:5])
    assert by_all.negative_log_likelihood.mean() < by_one.negative_log_likelihood.mean()


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
