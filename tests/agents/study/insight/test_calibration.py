"""Tests of agents.study.insight.calibration."""

import numpy as np
import pytest
from scipy import integrate, stats
from tensorflow_probability import distributions as tfd

from agents.study.insight.calibration import (
    LEVELS,
    Scores,
    mean_over_episodes,
    score,
    summarize,
)

MEANS = np.array([-2.0, 0.0, 0.5, 3.0])
STDDEV = 0.7
STEPS, STARTS, SIZE = 2, 4000, 3


def mixture(stddev=STDDEV, means=MEANS, size=SIZE):
    """The same for all steps, starts and dimensions."""
    shape = (len(means), STEPS, STARTS, size)
    return tfd.Normal(np.broadcast_to(means[:, None, None, None], shape), stddev)


@pytest.fixture(scope="module")
def drawn():
    """Observations drawn from that mixture, [steps, starts, size]."""
    rng = np.random.default_rng(0)
    chosen = rng.choice(MEANS, [STEPS, STARTS, SIZE])
    return chosen + STDDEV * rng.normal(size=chosen.shape)


def test_right_mixture_covers_each_level_as_often_as_it_says(drawn):
    coverage = score([mixture()], drawn).coverage
    assert coverage.shape == (STEPS, len(LEVELS), SIZE)
    levels = np.array(LEVELS)[:, None]
    errors = np.sqrt(levels * (1 - levels) / STARTS)
    assert np.all(np.abs(coverage - levels) < 4 * errors)


def test_too_wide_covers_more_and_too_narrow_less(drawn):
    wide, narrow = (
        score([mixture(stddev)], drawn).coverage.mean(axis=(0, 2)) for stddev in (1.4, 0.35)
    )
    assert wide[LEVELS.index(0.95)] > 0.955
    assert narrow[LEVELS.index(0.95)] < 0.93


def test_right_mixture_has_the_lowest_likelihood_loss_and_its_value(drawn):
    found = {
        stddev: score([mixture(stddev)], drawn).negative_log_likelihood.mean()
        for stddev in (0.5, STDDEV, 1.0)
    }
    assert min(found, key=found.get) == STDDEV

    def density(x):
        return stats.norm.pdf(x, MEANS, STDDEV).mean()

    entropy = integrate.quad(lambda x: -density(x) * np.log(density(x)), -7, 8)[0]
    error = 1.5 / np.sqrt(drawn.size)  # the log density has a stddev below 1
    assert found[STDDEV] == pytest.approx(entropy, abs=3 * error)


def test_likelihood_is_that_of_each_dimension_on_its_own():
    means = np.array([[0.0, 0.0], [5.0, 5.0]])[:, None, None]
    truth = np.array([[[0.3, 4.0]]])
    densities = [stats.norm.pdf(x, [0, 5]).mean() for x in truth[0, 0]]
    (found,) = score([tfd.Normal(means, 1.0)], truth).negative_log_likelihood
    assert found == pytest.approx(-np.log(densities))


def test_pictures_are_pooled():
    """Half of the pixels lie inside the interval, half far outside."""
    truth = np.stack([np.zeros([1, 1, 4, 4]), np.full([1, 1, 4, 4], 9.0)], axis=-1)
    found = score([tfd.Normal(np.zeros([3, *truth.shape]), 1.0)], truth)
    assert found.coverage.shape == (1, len(LEVELS), 1)
    np.testing.assert_allclose(found.coverage, 0.5)
    densities = stats.norm.logpdf([0, 9])
    assert found.negative_log_likelihood == pytest.approx(-densities.mean())


@pytest.fixture
def opposite():
    """Scores of two episodes: one dimension is always inside, the other in 0.6 of cases."""
    coverage = np.ones([2, STEPS, len(LEVELS), 2])
    coverage[0, ..., 1], coverage[1, ..., 1] = 0.5, 0.7
    likelihood = np.broadcast_to([1.0, 4.0], [2, STEPS, 2])
    return Scores(coverage, likelihood)


def test_opposite_errors_cancel_in_the_pooled_coverage_and_not_in_the_deviation(opposite):
    found = summarize(opposite)
    np.testing.assert_allclose([found[f"coverage_{level}"] for level in (50, 80, 95)], 0.8)
    np.testing.assert_allclose(found["deviation_80"], (0.2 + 0.2) / 2)
    np.testing.assert_allclose(found["deviation_50"], (0.5 + 0.1) / 2)
    np.testing.assert_allclose(found["negative_log_likelihood"], 2.5)


def test_one_dimension_is_summarized_alone(opposite):
    found = summarize(opposite, 1)
    for end, expected in (("", 0.6), ("_low", 0.5), ("_high", 0.7)):
        np.testing.assert_allclose(found[f"coverage_50{end}"], expected)
        np.testing.assert_allclose(found[f"negative_log_likelihood{end}"], 4)
    np.testing.assert_allclose(found["deviation_95"], 0.35)


def test_deviation_of_right_forecasts_is_that_of_chance():
    """0.8 sqrt(P (1 - P) / n), from the mean of the distance of a normal."""
    n, level = 50, 0.8
    rng = np.random.default_rng(2)
    truth = rng.normal(size=[1, n, 400])
    scores = score([tfd.Normal(np.zeros([1, *truth.shape]), 1.0)], truth)
    found = summarize(Scores(*(each[np.newaxis] for each in scores)))
    expected = 0.8 * np.sqrt(level * (1 - level) / n)
    assert found["deviation_80"][0] == pytest.approx(expected, rel=0.1)


def test_mixtures_are_judged_one_by_one_and_averaged(drawn):
    one, other = mixture(), mixture(means=MEANS + 1)
    both = score([one, other], drawn)
    for whole, *parts in zip(both, score([one], drawn), score([other], drawn), strict=True):
        np.testing.assert_allclose(whole, np.mean(parts, axis=0))


@pytest.mark.slow
def test_interval_over_episodes_holds_the_mean_as_often_as_it_says():
    rng = np.random.default_rng(1)
    inside = 0
    for values in rng.normal(size=[300, 40, 1]):
        _, (low,), (high,) = mean_over_episodes(values)
        inside += low <= 0 <= high
    assert inside / 300 == pytest.approx(0.95, abs=0.04)


def test_interval_of_equal_episodes_is_their_value():
    values = np.full([7, 30], np.arange(1, 31) / 30)
    mean, low, high = mean_over_episodes(values)
    assert (low <= mean).all()
    assert (mean <= high).all()
    np.testing.assert_allclose(low, high, rtol=1e-12)


def test_one_episode_has_no_interval():
    mean, low, high = mean_over_episodes(np.array([[3.0]]))
    assert mean == 3
    assert np.isnan([low, high]).all()


def test_each_dimension_is_judged_by_a_stddev_of_its_own(drawn):
    stddev = np.linspace(0.5, 2.0, drawn.shape[-1])
    both = score([mixture(stddev)], drawn)
    for index, each in enumerate(stddev):
        own = slice(index, index + 1)
        alone = score([mixture(each, size=1)], drawn[..., own])
        np.testing.assert_allclose(
            both.negative_log_likelihood[..., own], alone.negative_log_likelihood
        )
