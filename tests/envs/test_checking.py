"""Tests of the one door: what an environment gives that is wrong, extreme or unusual.

Each row is a field of an interface, what is given there, and the words by which it is
refused; None where it is taken. Interfaces: gymnasium and gym by `Counter`, dm_env.
"""

import sys
import types

import dm_env
import numpy as np
import pytest

import envs
from envs import EnvironmentFailedError, checking
from envs.quiet import import_gym
from tests.envs.simulations.test_own import Counter, DmCounter, OldCounter, space

spaces = import_gym().spaces
SEEN = np.zeros(2)
DM, (FIRST, MID, LAST) = dm_env.TimeStep, dm_env.StepType


def box(low, high, shape=(1,)):
    return types.SimpleNamespace(shape=shape, dtype=np.dtype("f4"), low=low, high=high)


def spec(**limits):
    return types.SimpleNamespace(max_episode_steps=limits["limit"])


def step(reward=1.0, seen=SEEN, ends=(False, False), info=None):
    return {"step": lambda self, action: (seen, reward, *ends, info or {})}


def dm(*given):
    return {"step": lambda self, action: DM(*given)}


def returning(value):
    return lambda self, *_, **__: value


def raising(error):
    def fail(self, *_, **__):
        raise error

    return fail


class OnADevice:
    """As a tensor of a GPU is."""

    def __array__(self, dtype=None):
        raise TypeError("copy it to the host first")


REAL = "observation must be real numbers, got"
FLAG = "terminated and truncated are true or false, got"
SECONDS = r"seconds of the environment's step .* must be above 0, got"
LIMIT = r"limit of steps \(max_episode_steps\) must be a whole number of at least 1, got"
STEP = "step returns observation, reward, terminated, truncated and info, got"
ROWS = [
    # rewards
    (Counter, step(True), None),
    (Counter, step([1.0]), None),
    (Counter, step(-1e15), None),
    (Counter, step(1e16), "environment's reward must be at most 1e.15 in size, got 1e.16"),
    (Counter, step(1e39), "environment's reward must be at most 1e.15 in size, got 1e.39"),
    (Counter, step(np.nan), "environment's reward must be finite, got nan"),
    (Counter, step(-np.inf), "environment's reward must be finite, got -inf"),
    (Counter, step(1j), "a reward is one number, got 1j"),
    (Counter, step(10**400), "a reward is one number, got 1000"),
    (DmCounter, dm(MID, None, 1.0, SEEN), "a reward is one number, got None"),
    (DmCounter, dm(MID, 1e20, 1.0, SEEN), "environment's reward must be at most"),
    # observations
    (Counter, step(seen=[True, 1]), None),
    (Counter, step(seen=np.zeros([1, 2])), None),
    (Counter, step(seen=np.array([1e39, 0])), "observation must be at most .* got .1.e.39"),
    (Counter, step(seen=np.array([1e300, 0])), "must be at most .* got .1.e.300"),
    (Counter, step(seen=np.array([1e20, 0])), "observation must be at most 1e.15 in size"),
    (Counter, step(seen=np.array([np.nan, 0])), "observation must be finite, got .nan 0"),
    (Counter, step(seen=np.array([1j, 0])), REAL),
    (Counter, step(seen=np.array(["a", "b"])), REAL),
    (Counter, step(seen=np.array([None, 1])), REAL),
    (Counter, step(seen=None), REAL),
    (Counter, step(seen=OnADevice()), f"{REAL} .*TypeError: copy it to the host first"),
    (Counter, step(seen=np.ma.array(SEEN, mask=[0, 1])), REAL),
    (Counter, step(seen=np.zeros(3)), "observation must have 2 numbers, got 3"),
    (Counter, {"reset": returning(None)}, REAL),
    (DmCounter, dm(MID, 1.0, 1.0, np.array([np.inf, 0])), "observation must be finite"),
    # ends
    (Counter, step(ends=(np.True_, 0)), None),
    (Counter, step(ends=(np.array([False]), False)), None),
    (Counter, step(ends=(None, False)), f"{FLAG} None"),
    (Counter, step(ends=(False, np.nan)), f"{FLAG} nan"),
    (Counter, step(ends=("no", False)), f"{FLAG} 'no'"),
    (Counter, step(ends=(np.array([True, False]), False)), FLAG),
    (OldCounter, step(ends=(None,)), f"{FLAG} None"),
    (DmCounter, dm(LAST, 1.0, 0.5, SEEN), None),
    (DmCounter, dm(LAST, 1.0, 2.0, SEEN), "discount must be from 0 to 1, got 2.0"),
    (DmCounter, dm(LAST, 1.0, np.nan, SEEN), "discount must be from 0 to 1, got nan"),
    (DmCounter, dm(MID, 1.0, np.ones(2), SEEN), "step failed: TypeError"),
    (DmCounter, dm(MID, 1.0, -3.0, SEEN), "discount must be from 0 to 1, got -3.0"),
    (DmCounter, dm(MID, 1.0, np.nan, SEEN), "discount must be from 0 to 1, got nan"),
    (DmCounter, dm(FIRST, None, None, SEEN), "step_type is FIRST, which only reset retu"),
    (DmCounter, dm("x", 1.0, 1.0, SEEN), "step_type is a dm_env.StepType, got 'x'"),
    # what comes back, and infos
    (Counter, {"step": returning((SEEN, 1.0, {}))}, STEP),
    (Counter, {"step": returning(None)}, STEP),
    (Counter, {"step": returning((SEEN, 1.0, False, False, None))}, None),
    (OldCounter, {"step": returning((SEEN, 1.0, True, None))}, None),
    # errors
    (Counter, {"reset": raising(SystemExit(3))}, "reset failed: SystemExit: 3 at"),
    (Counter, {"step": raising(SystemExit())}, "step failed: SystemExit"),
    (DmCounter, {"action_spec": raising(KeyError("arm"))}, "raised KeyError: 'arm'"),
    (DmCounter, {"control_timestep": raising(OSError("bus"))}, "raised OSError: bus"),
    (Counter, {"observation_space": property(raising(AttributeError("hip")))}, "ror: hip"),
    (Counter, {"single_action_space": None}, "several environments in one .* return one"),
    (Counter, {"close": raising(KeyError("bus"))}, None),
    # spaces and bounds
    (Counter, {"action_space": box(1.0, 1.0)}, None),
    (Counter, {"action_space": box(-1e9, 1e9)}, None),
    (Counter, {"action_space": box(-np.inf, np.inf)}, None),
    (Counter, {"action_space": box(np.nan, 1.0)}, "bounds of actions must be numbers"),
    (
        Counter,
        {"action_space": box(2.0, 1.0)},
        "lowest actions must be at most",
    ),
    (Counter, {"action_space": box(None, None)}, "bounds of actions must be numbers"),
    (Counter, {"action_space": box("a", "b")}, "bounds must be numbers of their shape"),
    (Counter, {"action_space": box([0.0] * 3, [1.0] * 3, (2,))}, "numbers of their shape"),
    (
        Counter,
        {"action_space": box([], [], (0,))},
        "no actions: the shape of its actions is",
    ),
    (Counter, {"observation_space": space((0,), np.dtype("f4"))}, "observes nothing"),
    (Counter, {"observation_space": spaces.Dict({})}, "observes nothing"),
    (DmCounter, {"action_spec": returning(None)}, "has actions None; only one array"),
    # limits and seconds
    (Counter, {"spec": spec(limit=np.int64(9))}, None),
    (Counter, {"spec": spec(limit=0)}, f"{LIMIT} 0"),
    (Counter, {"spec": spec(limit="9")}, f"{LIMIT} 9"),
    (Counter, {"spec": spec(limit=2.5)}, f"{LIMIT} 2.5"),
    (Counter, {"metadata": {"render_fps": 0}}, None),
    (Counter, {"metadata": {"render_fps": "a"}}, None),
    (Counter, {"metadata": [1]}, None),
    (Counter, {"metadata": {"render_fps": -2}}, f"{SECONDS} -0.5"),
    (Counter, {"dt": np.nan}, f"{SECONDS} nan"),
    (DmCounter, {"control_timestep": returning(0.0)}, f"{SECONDS} 0.0"),
    (DmCounter, {"control_timestep": returning(None)}, f"{SECONDS} None"),
]


@pytest.fixture
def load(monkeypatch):
    def make(kind, attributes, *arguments, **settings):
        other = type("Other", (kind,), attributes)
        monkeypatch.setitem(sys.modules, "own_module", types.SimpleNamespace(make=other))
        return envs.load("python:own_module:make", *arguments, **settings)

    return make


def play(environment):
    environment.reset()
    size = environment.action_spec().shape
    return environment.step(np.zeros(size))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("kind", "attributes", "message"), ROWS)
def test_what_is_given_is_taken_or_refused_in_one_line(load, kind, attributes, message):
    if message is None:
        taken = play(load(kind, attributes))
        assert np.isfinite(taken.observation["observation"]).all()
        assert np.isfinite(taken.reward)
        return
    with pytest.raises((ValueError, EnvironmentFailedError, RuntimeError)) as caught:
        play(load(kind, attributes))
    assert caught.match(message)
    assert str(caught.value).startswith(("task 'python:own_module:make'", "the "))
    assert "environment" in str(caught.value) or "task" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_a_user_gives_is_refused_as_a_value_that_names_no_environment():
    np.testing.assert_array_equal(checking.real("speed", [True, 2], "here"), [1.0, 2.0])
    for value, right in ((np.nan, "finite"), (1e20, "at most 1e.15 in"), ("x", "real")):
        with pytest.raises(ValueError, match=f"^speed must be {right}.*, got .* here"):
            checking.real("speed", value, "here")


PICTURES = [
    (np.full([8, 8, 3], 7, np.int64), None),
    (np.full([8, 8, 3], 0.5), r"uint8 \[height, width, 3\], got float64 \[8, 8, 3\]"),
    (np.full([8, 8, 3], -1), r"got int64 \[8, 8, 3\]"),
    (np.ones([8, 8, 3], bool), r"got bool \[8, 8, 3\]"),
    (np.zeros([8, 8, 4], np.uint8), r"got uint8 \[8, 8, 4\]"),
    (np.zeros([3, 8, 8], np.uint8), r"got uint8 \[3, 8, 8\]"),
    (np.zeros([0, 8, 3], np.uint8), r"got uint8 \[0, 8, 3\]"),
    ("picture", "draws no picture"),
    (None, "draws no picture"),
]


@pytest.mark.parametrize(("picture", "message"), PICTURES)
def test_pictures_are_taken_or_refused_in_one_line(load, picture, message):
    given = Counter, {"render": returning(picture)}, "pixels"
    if message is None:
        seen = load(*given, image_size=4).reset().observation["observation"]
        np.testing.assert_array_equal(seen, np.full([4, 4, 3], 7, np.uint8))
        return
    with pytest.raises(RuntimeError, match=message) as caught:
        load(*given, image_size=4)
    assert "\n" not in str(caught.value)


def test_a_picture_that_fails_later_drops_the_episode(load):
    class Fades(Counter):
        def render(self):
            if self.steps:
                raise KeyError("lamp")
            return np.zeros([8, 8, 3], np.uint8)

    environment = load(Fades, {}, "pixels", image_size=4)
    with pytest.raises(EnvironmentFailedError, match="render failed: KeyError: 'lamp' at"):
        play(environment)
