"""Tests of environments that users bring and that cannot be used."""

import numpy as np
import pytest
from dm_env import specs

from envs.quiet import import_gym
from tests.envs.simulations.test_own import Counter, DmCounter, space

spaces = import_gym().spaces


def raising():
    raise KeyError("no such\nrobot")


def counter(**attributes):
    return type("Other", (Counter,), attributes)


class Blind(DmCounter):
    def action_spec(self):
        return specs.DiscreteArray(3)


class Camera(DmCounter):
    def observation_spec(self):
        return {"joints": specs.Array([2], float), "eye": specs.Array([4, 4, 3], np.uint8)}


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
        (lambda: 3, "returned 3, which is no environment of dm_env, gym or gymnasium"),
        (
            counter(action_space=spaces.Discrete(3)),
            "actions Discrete.3.; only one array of",
        ),
        (counter(action_space=spaces.Dict(a=Counter.action_space)), "only one array of"),
        (Blind, "actions DiscreteArray.*; only one array of continuous actions"),
        (Camera, "observes eye: Array.*images are not supported as states: leave them out"),
        (counter(observation_space=space((8, 8), np.uint8)), "images are not supported"),
        (counter(observation_space=space(None, None)), "only numbers of a fixed shape"),
        (counter(observation_space=space((), np.dtype("U4"))), "only numbers of a fixed"),
        (
            counter(observation_space=space((3,), float)),
            "observed 2 numbers, and describes 3",
        ),
        (Misplaced, "observed what it does not describe .IndexError: only integers"),
    ],
)
def test_environment_that_cannot_be_used_is_refused_in_one_line(load, make, message):
    with pytest.raises((ValueError, RuntimeError), match=message) as caught:
        load(make)
    assert str(caught.value).startswith("task 'python:own_module:make'")
    assert "\n" not in str(caught.value)


def test_picture_that_is_not_there_is_missed(load):
    with pytest.raises(RuntimeError, match="needs render_mode='rgb_array'"):
        load(counter(render_mode=None), "pixels")
    with pytest.raises(RuntimeError, match="draws no picture: it has no physics"):
        load(DmCounter, "pixels")
