"""Tests of agents.study.insight.regression."""

import itertools
import warnings

import numpy as np
import pytest

from agents.study.insight import regression
from agents.study.insight.regression import (
    fit_mlp,
    fit_ridge,
    predict_held_out,
    r_squared,
    r_squared_and_interval,
    split,
)

EPISODES, ROWS = 12, 40


@pytest.fixture(scope="module")
def features():
    rng = np.random.default_rng(0)
    return [rng.normal(size=[ROWS, 6]) for _ in range(EPISODES)]


def linear(features):
    """Targets that are exactly linear in the features."""
    weights = np.random.default_rng(1).normal(size=[6, 3])
    return [rows @ weights + 5.0 for rows in features]


def test_what_is_linear_in_the_features_is_explained_wholly(features):
    targets = linear(features)
    share = r_squared_and_interval(targets, predict_held_out(fit_ridge, features, targets))
    np.testing.assert_allclose(share, np.ones([3, 3]), atol=1e-6)


def test_what_is_curved_is_explained_by_the_network_alone(features):
    targets = [np.abs(rows[:, :1]) for rows in features]
    ridge, network = (
        r_squared(targets, predict_held_out(kind, features, targets))[0]
        for kind in (fit_ridge, fit_mlp)
    )
    assert ridge < 0.1
    assert network > 0.8


def test_noise_is_not_explained(features):
    rng = np.random.default_rng(2)
    targets = [rng.normal(size=[ROWS, 4]) for _ in features]
    share = r_squared_and_interval(targets, predict_held_out(fit_ridge, features, targets))
    assert share[0].max() <= 0.02
    assert share[1].max() < 0


def test_the_mean_explains_nothing(features):
    targets = linear(features)
    share = r_squared(targets, predict_held_out(None, features, targets))
    assert -0.1 < share.min() <= share.max() <= 0


def test_each_episode_is_held_out_once_and_never_fitted_to():
    held_out = []
    for training, test in split(EPISODES):
        assert not set(training) & set(test)
        assert len(training) + len(test) == EPISODES
        held_out += list(test)
    assert sorted(held_out) == list(range(EPISODES))


def test_what_tells_an_episode_apart_is_of_no_use():
    """A split by rows would explain each episode's constant by its number."""
    rng = np.random.default_rng(3)
    names = np.eye(EPISODES)
    inputs = [np.repeat(name[np.newaxis], ROWS, axis=0) for name in names]
    targets = [np.full([ROWS, 1], rng.normal()) for _ in names]
    for kind in (fit_ridge, fit_mlp):
        assert r_squared(targets, predict_held_out(kind, inputs, targets)) <= 0


def test_share_of_a_target_that_never_changes_is_no_number():
    targets = [np.full([4, 1], 0.1, np.float32)] * 3
    share = r_squared_and_interval(targets, targets)
    assert np.isnan(share[:, 0]).all()


def test_interval_of_one_episode_is_no_number():
    target = np.arange(4.0)[:, np.newaxis]
    share = r_squared_and_interval([target], [target])
    assert share[0, 0] == 1
    assert np.isnan(share[1:, 0]).all()


def test_interval_holds_the_truth_as_often_as_it_says():
    """Targets with noise in each row and a noise level that each episode draws."""
    rng = np.random.default_rng(4)
    repeats, episodes = 200, 40
    signal = rng.normal(size=[repeats, episodes, 25, 1])
    level = rng.uniform(0.5, 1.5, [repeats, episodes, 1, 1])
    noise = level * rng.normal(size=signal.shape)
    truth = 1 / (1 + np.mean([x**2 for x in np.linspace(0.5, 1.5, 1001)]))
    inside = 0
    for y, p in zip(signal + noise, signal, strict=True):
        _, (low,), (high,) = r_squared_and_interval(list(y), list(p), resamples=300)
        inside += low <= truth <= high
    assert inside / repeats == pytest.approx(0.95, abs=0.05)


def test_interval_is_of_r_squared_about_the_mean_of_each_resample():
    """Episodes differ in their means, so that resamples differ in theirs."""
    rng = np.random.default_rng(6)
    targets = [mean + 0.3 * rng.normal(size=[20, 2]) for mean in range(5)]
    predictions = [each + 0.5 * rng.normal(size=each.shape) for each in targets]
    drawn = [
        r_squared([targets[n] for n in some], [predictions[n] for n in some])
        for some in itertools.product(range(5), repeat=5)  # all there are
    ]
    _, low, high = r_squared_and_interval(targets, predictions)
    expected = np.percentile(drawn, [2.5, 97.5], axis=0)
    np.testing.assert_allclose([low, high], expected, atol=0.02)


def test_resamples_without_variation_are_left_out_of_the_interval():
    """Of three episodes one alone varies: a third of resamples, about, leaves it out."""
    targets = [np.zeros([20, 1]), np.arange(20.0)[:, np.newaxis], np.zeros([20, 1])]
    predictions = [0.5 * target for target in targets]
    value, low, high = np.ravel(r_squared_and_interval(targets, predictions))
    assert low <= value <= high


def test_neither_estimate_nor_unknown_interval_warns():
    still, moving = np.zeros([5, 1]), np.arange(5.0)[:, np.newaxis]
    targets = [np.concatenate([still, moving], axis=1)] * 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(r_squared(targets, targets), [np.nan, 1])
        _, low, _ = r_squared_and_interval(targets, targets)
        np.testing.assert_array_equal(low, [np.nan, 1])


@pytest.fixture
def misleading():
    """Random numbers of each episode, which tell it apart, and its level, as random.

    Returns:
        Inputs [N, 30], the target [N, 1] and the episode of each row.
    """
    rng = np.random.default_rng(5)
    episodes = np.repeat(np.arange(40), 10)
    names, levels = rng.normal(size=[40, 30]), rng.normal(size=[40, 1])
    return names[episodes], levels[episodes], episodes


def test_penalty_is_the_best_for_held_out_episodes(misleading):
    """A choice by rows takes the numbers for knowledge, and would not shrink them."""
    rows, targets, episodes = misleading
    by_episode = fit_ridge(rows, targets, episodes)(rows)
    by_row = fit_ridge(rows, targets, np.arange(len(rows)))(rows)
    assert by_episode.std() < 0.2 * by_row.std()


def test_each_target_has_a_penalty_of_its_own(misleading):
    rows, targets, episodes = misleading
    exact = rows[:, :1]  # hardly needs one
    both = fit_ridge(rows, np.hstack([targets, exact]), episodes)(rows)
    for column, target in enumerate((targets, exact)):
        alone = fit_ridge(rows, target, episodes)(rows)
        np.testing.assert_allclose(both[:, column], alone.ravel(), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(both[:, 1:], exact, atol=1e-3)


def test_network_stops_before_it_learns_episodes_by_heart(misleading):
    rows, targets, episodes = misleading
    by_episode = fit_mlp(rows, targets, episodes)
    by_row = fit_mlp(rows, targets, np.arange(len(rows)))
    left, none = (np.mean((fitted(rows) - targets) ** 2) for fitted in (by_episode, by_row))
    assert left > 100 * none


def test_single_episode_is_cut_into_spans_of_time():
    folds = regression._folds(np.full(12, 7))
    held_out = [list(rows) for _, rows in folds]
    assert sorted(map(tuple, held_out)) == [(0, 1, 2), (3, 4), (5, 6, 7), (8, 9), (10, 11)]


def test_folds_are_no_more_than_episodes():
    assert len(list(split(2))) == 2
    assert len(list(split(100))) == regression.FOLDS
