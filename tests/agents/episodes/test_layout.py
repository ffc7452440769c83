"""Tests of agents.episodes.layout."""

import numpy as np
from tf_agents.drivers import py_driver
from tf_agents.environments import batched_py_environment, py_environment
from tf_agents.policies import random_py_policy
from tf_agents.specs import array_spec
from tf_agents.trajectories import time_step as ts

from agents.episodes.layout import (
    EpisodeWriter,
    agent_steps,
    check_episode,
    cost,
    environment_steps,
    episode_return,
)


class Counter(py_environment.PyEnvironment):
    """Observes (name, episode, time); the reward for action a at time t is 10 t + a."""

    def __init__(self, name, length, terminal=False):
        super().__init__(handle_auto_reset=True)
        self._name, self._length, self._terminal = name, length, terminal
        self._episode, self._time = -1, 0

    def observation_spec(self):
        def vector(size):
            return array_spec.ArraySpec([size], np.float32)

        return {"observation": vector(3), "position": vector(1), "velocity": vector(1)}

    def action_spec(self):
        return array_spec.BoundedArraySpec([1], np.float32, -1, 1)

    def _observe(self):
        seen = np.array([self._name, self._episode, self._time], np.float32)
        return {"observation": seen, "position": seen[1:2], "velocity": seen[2:]}

    def _reset(self):
        self._episode, self._time = self._episode + 1, 0
        return ts.restart(self._observe())

    def _step(self, action):
        reward = np.float32(10 * self._time + action[0])
        self._time += 1
        if self._time < self._length:
            return ts.transition(self._observe(), reward)
        if self._terminal:
            return ts.termination(self._observe(), reward)
        return ts.truncation(self._observe(), reward)


def drive(environment, observers, steps=None, episodes=None, time_step=None):
    policy = random_py_policy.RandomPyPolicy(
        environment.time_step_spec(), environment.action_spec(), seed=0
    )
    driver = py_driver.PyDriver(
        environment, policy, observers, max_steps=steps, max_episodes=episodes
    )
    return driver.run(time_step or environment.reset())[0]


def test_row_holds_the_action_and_the_reward_that_led_to_it():
    episodes, frames = [], []
    environment = Counter(name=7, length=4)
    drive(
        environment,
        [EpisodeWriter(lambda episode, _: episodes.append(episode)), frames.append],
        episodes=2,
    )
    assert len(episodes) == 2
    for number, episode in enumerate(episodes):
        check_episode(episode)
        actions = [f.action for f in frames if f.observation["observation"][1] == number]
        taken = np.array(actions[:4])  # the fifth is never executed
        np.testing.assert_array_equal(episode["observation"][:, 2], range(5))
        np.testing.assert_array_equal(episode["action"], [[0], *taken])
        np.testing.assert_allclose(
            episode["reward"], [0, *(10 * np.arange(4) + taken[:, 0])], rtol=1e-6
        )
        assert episode["is_first"].tolist() == [True] + 4 * [False]
        assert not episode["is_terminal"].any()
        assert set(episode["position"][:, 0]) == {number}


def test_only_a_termination_is_terminal():
    episodes = []
    drive(
        Counter(0, 3, terminal=True),
        [EpisodeWriter(lambda episode, _: episodes.append(episode))],
        episodes=1,
    )
    assert episodes[0]["is_terminal"].tolist() == [False, False, False, True]


def test_environments_of_a_batch_are_kept_apart():
    episodes = []
    environment = batched_py_environment.BatchedPyEnvironment(
        [Counter(1, 3), Counter(2, 5)], multithreading=False
    )
    drive(
        environment,
        [EpisodeWriter(lambda episode, _: episodes.append(episode))],
        steps=30,
    )
    lengths = {1: 4, 2: 6}
    for episode in episodes:
        check_episode(episode)
        (name,) = set(episode["observation"][:, 0])
        assert len(set(episode["observation"][:, 1])) == 1
        np.testing.assert_array_equal(episode["observation"][:, 2], range(lengths[name]))
        expected = 10 * np.arange(lengths[name] - 1) + episode["action"][1:, 0]
        np.testing.assert_allclose(episode["reward"][1:], expected, rtol=1e-6)
    assert {1, 2} == {episode["observation"][0, 0] for episode in episodes}


def test_an_episode_may_span_runs_of_the_driver():
    episodes, environment = [], Counter(0, 4)
    writer = EpisodeWriter(lambda episode, _: episodes.append(episode))
    between = drive(environment, [writer], steps=2)
    assert not episodes
    drive(environment, [writer], episodes=1, time_step=between)
    assert len(episodes[0]["reward"]) == 5


def test_a_reset_environment_starts_a_new_episode():
    episodes, environment = [], Counter(0, 4)
    writer = EpisodeWriter(lambda episode, _: episodes.append(episode))
    drive(environment, [writer], steps=2)
    drive(environment, [writer], episodes=1)  # resets first
    assert [episode["observation"][0, 1] for episode in episodes] == [1]
    assert len(episodes[0]["reward"]) == 5


EPISODE = {"reward": np.array([0.0, 1.0, 0.5, 2.0], np.float32)}


def test_return_is_the_sum_of_rewards():
    assert episode_return(EPISODE) == 3.5


def test_cost_is_told_by_the_episode_or_by_its_negative_rewards():
    assert cost(EPISODE) == 0
    assert cost({"reward": np.array([0.0, -1.0, 3.0, -0.5])}) == 1.5
    assert cost(EPISODE | {"cost": np.float64(0.7)}) == 0.7


def test_the_first_row_took_no_action():
    assert agent_steps(EPISODE) == 3


def test_physics_steps_are_told_by_the_episode_or_counted_in_full():
    assert environment_steps(EPISODE, action_repeat=4) == 12
    assert environment_steps(EPISODE | {"environment_steps": np.int64(10)}, 4) == 10
