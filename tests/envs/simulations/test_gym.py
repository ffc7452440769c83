"""Tests of gym tasks."""

import numpy as np
import pytest

import envs
from envs.quiet import import_gym
from envs.simulations.gym import maker, shrink
from envs.simulations.own import Own
from tests.envs import cart_pole  # noqa: F401  registers its task


def make(name):
    return Own(f"gym:{name}", maker(name))


def test_position_of_the_pendulum_withholds_its_velocity():
    observation = envs.load("gym:Pendulum-v1", "position", seed=1).reset().observation
    state = envs.load("gym:Pendulum-v1", "state", seed=1).reset().observation
    np.testing.assert_array_equal(observation["observation"], state["observation"][:2])
    np.testing.assert_array_equal(state["velocity"], state["observation"][2:])


def test_pendulum_is_that_of_gym():
    environment = envs.load("gym:Pendulum-v1", seed=4, action_repeat=2)
    step = environment.reset()
    raw = import_gym().make("Pendulum-v1")
    np.testing.assert_array_equal(step.observation["observation"], raw.reset(seed=4))
    rewards = [raw.step(np.array([1.0], np.float32))[1] for _ in range(2)]
    assert environment.step([0.5]).reward == pytest.approx(sum(rewards), rel=1e-5)
    assert environment.episode_length == 100


def test_time_limit_keeps_the_discount():
    environment = envs.load("gym:Pendulum-v1", action_repeat=200)
    environment.reset()
    step = environment.step([0.0])
    assert step.is_last()
    assert step.discount == 1.0


def test_categories_are_chosen_by_one_hot_vectors():
    environment = envs.load("gym:CartPole-v1", seed=3)
    raw = import_gym().make("CartPole-v1")
    state = environment.reset().observation["observation"]
    np.testing.assert_array_equal(state, raw.reset(seed=3))
    for choice in (1, 0, 1):
        step = environment.step(np.eye(2, dtype=np.float32)[choice])
        state, reward, *_ = raw.step(choice)
        np.testing.assert_array_equal(step.observation["observation"], state)
        assert step.reward == reward
    assert environment.action_spec().minimum == 0
    with pytest.raises(ValueError, match="must be one-hot"):
        environment.step([1.0, 1.0])


def test_a_cost_of_categories_is_refused():
    with pytest.raises(ValueError, match="action_cost must be 0 where actions are categ"):
        envs.load("gym:CartPole-v1", action_cost=0.1)


def test_missing_package_is_an_error():
    with pytest.raises(RuntimeError, match="HalfCheetah-v3': gym.make raised .*mujoco"):
        make("HalfCheetah-v3")


def test_shrink_averages_cells():
    image = np.arange(16, dtype=np.uint8).reshape(4, 4, 1).repeat(3, 2) * 2
    np.testing.assert_array_equal(shrink(image, 2)[..., 0], [[5, 9], [21, 25]])
    np.testing.assert_array_equal(shrink(image, 4), image)
    assert shrink(image, 7).shape == (7, 7, 3)


@pytest.mark.parametrize("failure", ["none", "error"])
def test_task_that_draws_nothing_says_so(monkeypatch, failure):
    simulation = make("Pendulum-v1")

    def render(mode):
        if failure == "error":
            raise import_gym().error.DependencyNotInstalled("no pygame")

    monkeypatch.setattr(simulation._env._env, "render", render)
    with pytest.raises(
        envs.EnvironmentFailedError, match="this environment draws no picture: "
    ):
        simulation.render(64, camera=0, shadows=True)


@pytest.mark.parametrize(
    "task", ["gym:MountainCarContinuous-v0", "gym:ContinuousCartPole-v0"]
)
def test_an_end_is_worth_nothing_and_a_time_limit_is_no_end(task):
    environment = envs.load(task, seed=0, action_repeat=3)
    simulation = environment._simulation._env._env.unwrapped
    # beside the goal and on the way to it; the pole about to fall
    ending = [0.44, 0.06] if "Mountain" in task else [0.0, 0.0, 0.2, 2.0]
    environment.reset()
    simulation.state = np.array(ending)
    step = environment.step([0.0])
    assert step.is_last()
    assert step.discount == 0.0
    assert envs.can_end(task)
    environment._simulation.time_limit = 3
    environment._simulation._env._env._max_episode_steps = 3
    environment.reset()
    step = environment.step([0.0])
    assert step.is_last()
    assert step.discount == 1.0


@pytest.mark.parametrize("method", ["reset", "step"])
def test_an_error_of_the_task_is_told_in_one_line(monkeypatch, method):
    environment = envs.load("gym:Pendulum-v1")
    environment.reset()

    def fail(*_, **__):
        raise FloatingPointError("the pendulum\nis broken")

    monkeypatch.setattr(environment._simulation._env._env, method, fail)
    message = f"^task 'gym:Pendulum-v1': {method} failed: FloatingPointError: the pendulum "
    with pytest.raises(envs.EnvironmentFailedError, match=message) as caught:
        environment.reset() if method == "reset" else environment.step(np.zeros(1))
    assert "\n" not in str(caught.value)
