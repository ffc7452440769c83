"""Tests of the point on a line."""

import numpy as np
import pytest

import envs
from envs.simulations import fake
from envs.simulations.fake import FAKE_TIME_LIMIT


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_optimal_policy_reaches_the_optimum(seed):
    environment = envs.load("fake", seed=seed)
    step = environment.reset()
    start, total = step.observation["position"][0], 0.0
    while not step.is_last():
        position = step.observation["position"][0]
        step = environment.step(np.clip([-position / fake.REACH], -1.0, 1.0))
        total += step.reward
    # to the origin at full speed, and it stays there
    times = np.arange(1, FAKE_TIME_LIMIT + 1)
    optimum = np.sum(1.0 - np.maximum(0.0, abs(start) - fake.REACH * times))
    assert total == pytest.approx(optimum, rel=1e-5)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_before_the_edge_the_optimal_policy_reaches_the_optimum(seed):
    environment = envs.load("fake_ending", seed=seed)
    step = environment.reset()
    start, total = step.observation["position"][0], 0.0
    assert start < fake.EDGE
    for now in range(FAKE_TIME_LIMIT):
        way = fake.EDGE - 1e-6 - step.observation["position"][0]
        is_last = now == FAKE_TIME_LIMIT - 1
        step = environment.step([1.0 if is_last else min(way / fake.REACH, 1.0)])
        total += step.reward
        assert step.is_last() == is_last
    # to the edge at full speed; the last step, after which there is nothing, goes over it
    times = np.arange(1, FAKE_TIME_LIMIT + 1)
    ways = np.minimum(start + fake.REACH * times, fake.EDGE)
    optimum = (np.sum(1.0 + ways) + fake.REACH) / 2.0
    assert total == pytest.approx(optimum, rel=1e-5)


def test_beyond_the_edge_the_episode_ends_and_before_it_the_discount_stays():
    environment = envs.load("fake_ending", action_repeat=2)
    for action in (1.0, -1.0):
        step = environment.reset()
        while not step.is_last():
            step = environment.step([action])
        has_fallen = step.observation["position"][0] > fake.EDGE
        assert (step.discount == 0.0) == has_fallen == (action > 0)


def test_position_withholds_velocity():
    assert envs.load("fake", "state").observation_spec()["observation"].shape == (2,)
    assert envs.load("fake", "position").observation_spec()["observation"].shape == (1,)


def test_picture_shows_the_position():
    environment = envs.load("fake", "pixels", image_size=21)
    observation = environment.reset().observation
    column = round((observation["position"][0] + 1) / 2 * 20)
    np.testing.assert_array_equal(
        np.unique(np.nonzero(observation["observation"])[1]), column
    )
