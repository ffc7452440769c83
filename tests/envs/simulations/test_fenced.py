"""Tests of cartpole_swingup_fenced, against the suite's cartpole_swingup."""

import pytest

import envs
from envs.simulations.fenced import FENCE
from envs.simulations.rendering import import_suite


@pytest.fixture(scope="module")
def pair():
    suite = import_suite()
    return [
        suite.load("cartpole", f"swingup{kind}", task_kwargs={"random": 0})
        for kind in ("_fenced", "")
    ]


@pytest.mark.parametrize("position", [-FENCE - 0.01, -FENCE + 0.01, 0.0, FENCE + 0.01])
@pytest.mark.parametrize("angle", [0.0, 2.0])
def test_behind_the_fence_the_reward_is_minus_one_and_else_that_of_swinging_up(
    pair, position, angle
):
    rewards = []
    for environment in pair:
        environment.reset()
        with environment.physics.reset_context():
            environment.physics.data.qpos[:] = position, angle
        environment.physics.after_reset()
        rewards.append(environment.task.get_reward(environment.physics))
    fenced, free = rewards
    assert 0 <= free <= 1
    assert fenced == (-1.0 if abs(position) > FENCE else free)


def test_the_cart_that_is_pushed_behind_the_fence_pays_and_the_episode_goes_on():
    environment = envs.load("cartpole_swingup_fenced")
    environment.reset()
    rewards = [float(environment.step([1.0]).reward) for _ in range(60)]
    assert min(rewards) == -environment.action_repeat
    assert rewards[0] > -1
    assert environment.episode_length == 125
