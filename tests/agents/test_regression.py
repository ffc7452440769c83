"""Tests of agents.regression."""

import numpy as np
import pytest

from agents import regression
from agents.regression import make_mlp, make_ridge, predict_held_out, r_squared, split

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
    share = r_squared(targets, predict_held_out(make_ridge, features, targets))
    np.testing.assert_allclose(share, np.ones([3, 3]), atol=1e-6)


def test_what_is_curved_is_explained_by_the_network_alone(features):
    targets = [np.abs(rows[:, :1]) for rows in features]
    ridge, network = (
        r_squared(targets, predict_held_out(make, features, targets)).value[0]
        for make in (make_ridge, make_mlp)
    )
    assert ridge < 0.1
    assert network > 0.8


def test_noise_is_not_explained(features):
    rng = np.random.default_rng(2)
    targets = [rng.normal(size=[ROWS, 4]) for _ in features]
    share = r_squared(targets, predict_held_out(make_ridge, features, targets))
    assert share.value.max() <= 0.02
    assert share.low.max() < 0


def test_the_mean_explains_nothing(features):
    targets = linear(features)
    share = r_squared(targets, predict_held_out(None, features, targets))
    assert -0.1 < share.value.min() <= share.value.max() <= 0


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
    for make in (make_ridge, make_mlp):
        share = r_squared(targets, predict_held_out(make, inputs, targets))
        assert share.value[0] <= 0


def test_share_of_a_target_that_never_changes_is_no_number():
    targets = [np.full([4, 1], 0.1, np.float32)] * 3
    share = r_squared(targets, targets)
    assert np.isnan([share.value[0], share.low[0], share.high[0]]).all()


def test_interval_of_one_episode_is_no_number():
    target = np.arange(4.0)[:, np.newaxis]
    share = r_squared([target], [target])
    assert share.value[0] == 1
    assert np.isnan([share.low[0], share.high[0]]).all()


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
        share = r_squared(list(y), list(p), resamples=300)
        inside += share.low[0] <= truth <= share.high[0]
    assert inside / repeats == pytest.approx(0.95, abs=0.05)


def test_folds_are_no_more_than_episodes():
    assert len(list(split(2))) == 2
    assert len(list(split(100))) == regression.FOLDS
