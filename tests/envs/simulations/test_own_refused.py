"""Tests of environments that users bring and that cannot be used."""

import dm_env
import gymnasium
import numpy as np
import pytest
from dm_env import specs

from envs import EnvironmentFailedError
from envs.quiet import import_gym
from tests.envs.simulations.test_own import Counter, DmCounter, space

spaces = import_gym().spaces


def raising():
    raise KeyError("no such\nrobot")


def counter(**attributes):
    return type("Other", (Counter,), attributes)


class Blind(DmCounter):
    def action_spec(self):
        return specs.Array([1], int)


class Camera(DmCounter):
    def observation_spec(self):
        return {
            "joints": specs.Array([2], float),
            "eye": specs.Array([40, 40, 3], np.uint8),
        }


class Bare(DmCounter):
    def reset(self):
        return np.zeros(3)


class Misplaced(DmCounter):
    def observation_spec(self):
        return {"angle": specs.Array([2], float)}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            raising,
            r"raising raised KeyError: 'no such\\nrobot' at .*test_own_refused.py:\d+",
        ),
        (lambda: 3, "must return an environment of dm_env, gym or gymnasium, got 3"),
        (
            counter(action_space=spaces.Discrete(2000)),
            "actions Discrete.2000.; at most 1,000 categories are supported, got 2,000",
        ),
        (
            counter(action_space=spaces.Dict(a=Counter.action_space)),
            "only one array of continuous actions, or of categories, is supported",
        ),
        (Blind, "actions Array.*; integers need a least and a greatest one"),
        (
            Camera,
            "observes eye: Array.*, an image: observation=auto takes numbers and imag",
        ),
        (
            counter(observation_space=space((32, 32), np.uint8)),
            "an image: observation=auto",
        ),
        (
            counter(observation_space=space((90, 90, 4), np.uint8)),
            "neither numbers nor an image: images are uint8, .* 1 or 3 channels",
        ),
        (counter(observation_space=space(None, None)), "only numbers of a fixed shape"),
        (counter(observation_space=space((), np.dtype("U4"))), "only numbers of a fixed"),
        (
            counter(observation_space=space((3,), float)),
            "does not fit its spec or space .observation must have 3 numbers, got 2",
        ),
        (Misplaced, "space .observation must be a dict with .* it lacks"),
        (
            counter(
                observation_space=gymnasium.spaces.OneOf([gymnasium.spaces.Discrete(2)])
            ),
            "observes OneOf.*; only numbers of a fixed shape are supported",
        ),
        (
            Bare,
            "reset failed: TypeError: dm_env wants a dm_env.TimeStep, such as .* ndarray",
        ),
    ],
)
def test_environment_that_cannot_be_used_is_refused_in_one_line(load, make, message):
    with pytest.raises((ValueError, RuntimeError), match=message) as caught:
        load(make)
    assert str(caught.value).startswith("task 'python:own_module:make'")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (lambda: None, "TypeError: a reward is one number, got None"),
        (lambda: np.ones(3), r"a reward is one number, got array\(\[1., 1., 1.\]\)"),
        (lambda: "one", "a reward is one number, got 'one'"),
        (lambda: {}["goal"], r"KeyError: 'goal' at .*test_own_refused.py:\d+"),
    ],
)
@pytest.mark.parametrize("kind", [Counter, DmCounter])
def test_a_step_that_fails_is_told_in_one_line(load, kind, given, message):
    def step(self, action):
        if kind is Counter:
            return np.zeros(2), given(), False, {}
        return dm_env.transition(given(), np.zeros(3))

    environment = load(type("Other", (kind,), {"step": step}))
    environment.reset()
    with pytest.raises(EnvironmentFailedError, match=f"step failed: .*{message}") as caught:
        environment.step(np.zeros(environment.action_spec().shape))
    assert str(caught.value).startswith("task 'python:own_module:make': ")
    assert "\n" not in str(caught.value)


def test_picture_that_is_not_there_is_missed(load):
    with pytest.raises(RuntimeError, match="needs render_mode='rgb_array'"):
        load(counter(render_mode=None), "pixels")
    with pytest.raises(RuntimeError, match="draws no picture: it has no physics"):
        load(DmCounter, "pixels")
