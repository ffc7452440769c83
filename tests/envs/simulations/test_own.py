"""Tests of environments that users bring, by the interfaces of three libraries."""

import collections
import types

import dm_env
import numpy as np
import pytest
from dm_env import specs
from tf_agents.environments import utils

from envs import EnvironmentFailedError
from envs.quiet import import_gym

gym = import_gym()
spaces = gym.spaces


def space(shape, dtype):
    return types.SimpleNamespace(shape=shape, dtype=dtype)


class Counter:
    """Counts steps: the observation is [steps, action], an episode is three steps.

    Works like an environment of gymnasium, which need not be installed.
    """

    action_space = spaces.Box(-2.0, 4.0, [1])
    observation_space = spaces.Box(-9.0, 9.0, [2], np.float64)
    render_mode = "rgb_array"
    ends = (True, False)

    def reset(self, seed=None):
        self.seed = seed
        self.steps = 0
        return np.array([0.0, seed % 7]), {}

    def step(self, action):
        self.steps += 1
        observation = np.array([self.steps, *action])
        ends = self.ends if self.steps == 3 else (False, False)
        return observation, 10.0 * self.steps, *ends, {}

    def render(self):
        return np.full([80, 60, 3], self.steps, np.uint8)

    def close(self):
        pass


class OldCounter:
    """The same with the interface of gym before 0.22."""

    action_space, observation_space = Counter.action_space, Counter.observation_space
    info = {}

    def seed(self, seed):
        self.given = seed

    def reset(self):
        self.steps = 0
        return np.array([0.0, self.given % 7])

    def step(self, action):
        self.steps += 1
        observation = np.array([self.steps, *action])
        return observation, 10.0 * self.steps, self.steps == 3, self.info

    def close(self):
        pass


class DmCounter(dm_env.Environment):
    """The same with the interface of dm_env."""

    last = staticmethod(dm_env.termination)

    def action_spec(self):
        return specs.BoundedArray([1], np.float32, -2.0, 4.0)

    def observation_spec(self):
        return specs.Array([2], np.float64)

    def seed(self, seed):
        self.given = seed

    def reset(self):
        self.steps = 0
        return dm_env.restart(np.array([0.0, self.given % 7]))

    def step(self, action):
        self.steps += 1
        make = self.last if self.steps == 3 else dm_env.transition
        return make(10.0 * self.steps, np.array([self.steps, *action]))


class Truncated(Counter):
    ends = (False, True)


class OldTruncated(OldCounter):
    info = {"TimeLimit.truncated": True}


class DmTruncated(DmCounter):
    last = staticmethod(dm_env.truncation)


@pytest.mark.parametrize("make", [Counter, OldCounter, DmCounter])
def test_every_interface_gives_the_same_episode(load, make):
    environment = load(make, seed=9)
    utils.validate_py_environment(environment, episodes=2)
    environment.seed(9)
    steps = [environment.reset(), *(environment.step([0.5]) for _ in range(3))]
    # The action 0.5 is three quarters of the way from -2 to 4.
    np.testing.assert_array_equal(
        [step.observation["observation"] for step in steps],
        [[0, 9 % 7], [1, 2.5], [2, 2.5], [3, 2.5]],
    )
    assert [float(step.reward) for step in steps] == [0, 10, 20, 30]
    assert [bool(step.is_last()) for step in steps] == [False, False, False, True]
    assert steps[-1].discount == 0.0
    observation = steps[-1].observation
    np.testing.assert_array_equal(observation["position"], observation["observation"])
    assert observation["velocity"].shape == (0,)
    assert environment.entries == {}


@pytest.mark.parametrize("make", [Truncated, OldTruncated, DmTruncated])
def test_time_limit_keeps_the_discount(load, make):
    environment = load(make, action_repeat=3)
    environment.reset()
    step = environment.step([0.0])
    assert step.is_last()
    assert step.discount == 1.0
    assert step.reward == 60.0


def test_limit_that_is_told_is_the_length_of_an_episode(load):
    class Limited(Counter):
        spec = types.SimpleNamespace(max_episode_steps=2)
        metadata = {"render_fps": 50}

    environment = load(Limited)
    assert environment.episode_length == 2
    assert environment.seconds == 1 / 50
    environment.reset()
    environment.step([0.0])
    step = environment.step([0.0])
    assert step.is_last()
    assert step.discount == 1.0


class EndsLater(gym.Wrapper):
    """Pendulum without gym's limit of 200 steps, for 500."""

    def __init__(self):
        super().__init__(gym.make("Pendulum-v1").unwrapped)

    def reset(self, **seed):
        self.steps = 0
        return self.env.reset(**seed)

    def step(self, action):
        self.steps += 1
        observation, reward, _, info = self.env.step(action)
        return observation, reward, self.steps == 500, info


def _limited_twice():
    inner = gym.make("Pendulum-v1")
    return gym.wrappers.TimeLimit(gym.wrappers.ClipAction(inner), 1_000)


def _limited_longer():
    return gym.wrappers.TimeLimit(gym.make("Pendulum-v1").unwrapped, 300)


@pytest.mark.parametrize(
    ("make", "told", "steps"),
    [(EndsLater, None, 500), (_limited_twice, 200, 200), (_limited_longer, 300, 300)],
)
def test_limits_are_those_of_the_wrappers_that_cut(load, make, told, steps):
    environment = load(make)
    assert environment.episode_length == told
    environment.reset()
    while not environment.current_time_step().is_last():
        environment.step(np.zeros(1))
    assert environment.get_info()["environment_steps"] == steps


def test_parts_are_put_together_in_the_order_of_their_description(load):
    class Parts(Counter):
        observation_space = spaces.Dict(
            collections.OrderedDict(
                wheel=spaces.Dict(speed=spaces.Box(-1.0, 1.0, [2])),
                arm=spaces.Tuple([spaces.Discrete(5), spaces.MultiBinary(2)]),
            )
        )

        def reset(self, seed=None):
            arm = (3, np.array([0, 1], np.int8))
            return {"arm": arm, "wheel": {"speed": np.array([0.5, 0.25])}}, {}

    environment = load(Parts)
    observation = environment.reset().observation["observation"]
    assert environment.entries == {("wheel", "speed"): 2, ("arm", 0): 1, ("arm", 1): 2}
    assert list(environment.entries)[0] == ("wheel", "speed")
    assert observation.dtype == np.float32
    np.testing.assert_array_equal(observation, [0.5, 0.25, 3, 0, 1])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"a": np.zeros(3), "b": np.zeros(2)}, r"\(a must have 2 numbers, got 3\)"),
        ({"a": np.zeros(2), "b": 1.0}, r"\(b must have 3 numbers, got 1\)"),
        ({"a": np.zeros(2)}, "must be a dict with a 2, b 3; it lacks b"),
        ({"a": [1.0, np.nan], "b": np.zeros(3)}, "a must be finite, got . 1. nan"),
        ({"a": [[1.0], [1.0, 2.0]], "b": np.zeros(3)}, "a must be real numbers, got"),
        ({"a": ["x", "y"], "b": np.zeros(3)}, "a must be real numbers, got"),
    ],
)
def test_an_entry_of_another_size_is_named(load, given, message):
    class Parts(Counter):
        observation_space = spaces.Dict(
            a=spaces.Box(-1.0, 1.0, [2]), b=spaces.Box(-1.0, 1.0, [3])
        )

        def reset(self, seed=None):
            return given, {}

    with pytest.raises(EnvironmentFailedError, match=f"does not fit .*{message}"):
        load(Parts)


def test_an_end_of_use_that_fails_is_told_and_no_more(load, caplog):
    class Stuck(Counter):
        def close(self):
            raise KeyError("bus")

    load(Stuck).close()
    assert "'python:own_module:make': close failed: KeyError: 'bus' at" in caplog.text


def test_actions_of_any_shape_are_a_vector(load):
    class Matrix(Counter):
        action_space = space((2, 3), np.float32)  # without bounds: as they are
        observation_space = spaces.Box(-9.0, 9.0, [7])

        def reset(self, seed=None):
            return np.zeros([7]), {}

        def step(self, action):
            assert action.shape == (2, 3)
            return np.array([0, *action.ravel()]), 0.0, False, False, {}

    environment = load(Matrix)
    environment.reset()
    action = np.linspace(-1, 1, 6, dtype=np.float32)
    seen = environment.step(action).observation["observation"]
    np.testing.assert_array_equal(seen[1:], action)


def test_picture_is_that_of_render(load):
    environment = load(Counter, "pixels", image_size=8)
    environment.reset()
    picture = environment.step([0.0]).observation["observation"]
    assert picture.shape == (8, 8, 3)
    np.testing.assert_array_equal(picture, 1)


def test_physics_of_dm_control_are_drawn(load, needs_pictures):
    from envs.simulations.dm_control import import_suite

    make = import_suite().load
    environment = load(lambda: make("cartpole", "swingup"), "pixels", image_size=16)
    assert environment.reset().observation["observation"].std() > 1
    environment = load(lambda: make("cartpole", "swingup"), seed=3)
    assert environment.entries == {("position",): 3, ("velocity",): 2}
    assert environment.seconds == 0.01
    first, other = environment.reset(), environment.reset()
    environment.seed(3)
    again = environment.reset()
    np.testing.assert_array_equal(
        first.observation["observation"], again.observation["observation"]
    )
    assert not np.array_equal(
        first.observation["observation"], other.observation["observation"]
    )


def test_environment_without_seeds_is_warned_of_once(load, caplog):
    class Unseeded(DmCounter):
        seed = None
        given = 0

    load(Unseeded)
    load(Unseeded)
    (warning,) = caplog.messages
    assert warning.startswith("Unseeded has no seeds")


def test_environment_of_gym_without_seeds_is_warned_of(load, caplog):
    class Chance(Counter):
        def reset(self):
            return super().reset(seed=0)

    load(Chance)
    (warning,) = caplog.messages
    assert warning.startswith("Chance has no seeds")


def test_a_wrapper_whose_reset_takes_no_seed_is_seeded_as_before(load):
    class Inner(Counter, import_gym().Env):
        def reset(self, seed=None):
            return np.array([0.0, self.np_random.integers(1000)])

    class Wrapped(import_gym().Wrapper):
        def reset(self):
            return self.env.reset()

    first, again, other = (
        load(lambda: Wrapped(Inner()), seed=seed).reset().observation["observation"][1]
        for seed in (3, 3, 4)
    )
    assert first == again != other


def test_an_adapter_is_seeded_whatever_it_adapts(load):
    class Adapter(Counter):
        env = OldCounter()  # whose reset takes no seed

    first = load(Adapter, seed=3).reset().observation["observation"]
    np.testing.assert_array_equal(first, [0.0, 3.0])


def test_a_wrapper_hands_a_seed_on_to_what_takes_none(load):
    class Inner(OldCounter, import_gym().Env):
        pass

    first = load(lambda: import_gym().Wrapper(Inner()), seed=3).reset()
    np.testing.assert_array_equal(first.observation["observation"], [0.0, 3.0])


def test_what_is_wrong_within_a_reset_is_told(load):
    class Wrong(Counter):
        def reset(self, seed=None):
            raise TypeError("of its own")

    with pytest.raises(Exception, match="of its own"):
        load(Wrong).reset()
