"""Tests of agents.episodes.recording."""

import numpy as np
import pytest
import tensorflow as tf

import envs
from agents.episodes.collecting import first_episodes, random_policy
from agents.episodes.recording import record
from agents.system.errors import UserError
from envs.simulations import rendering

STEP = tf.Variable(0, dtype=tf.int64)


def load(task, **settings):
    environment = envs.load_many(1, task, seed=3, processes=False, **settings)
    return environment, random_policy(environment, seed=0)


@pytest.mark.parametrize("observation", ["state", "pixels"])
def test_each_row_has_the_picture_of_the_simulator(observation):
    if rendering.choose() == "disabled":
        pytest.skip("neither EGL nor OSMesa loads: install libegl1 or libosmesa6")
    settings = {"observation": observation, "action_repeat": 200, "image_size": 32}
    found = record(*load("cartpole_swingup", **settings), STEP)
    again = load("cartpole_swingup", **settings)[0].envs[0]
    again.reset()
    for row, frame in enumerate(found.frames):
        if row:
            again.step(found.episode["action"][row])
        np.testing.assert_array_equal(frame, again.render(size=240))
    assert len(found.frames) == len(found.episode["reward"]) == 6
    assert found.seconds == pytest.approx(2)


@pytest.mark.parametrize("task", ["fake", "gym:Pendulum-v1"])
def test_episode_is_the_same_without_pictures(task):
    found = record(*load(task), STEP)
    (expected,) = first_episodes(*load(task), STEP)
    for key, array in expected.items():
        np.testing.assert_array_equal(found.episode[key], array)
    assert found.frames.shape == (len(expected["reward"]), 240, 240, 3)


def test_where_nothing_can_be_drawn_the_error_is_one_line(monkeypatch):
    environment, policy = load("fake")
    closed = []

    def fail(**_):
        raise RuntimeError("pictures need\nEGL")

    monkeypatch.setattr(environment.envs[0], "render", fail)
    monkeypatch.setattr(environment, "close", lambda: closed.append(1))
    with pytest.raises(UserError, match="^pictures need EGL$"):
        record(environment, policy, STEP)
    assert closed
