"""Tests of agents.episodes.collecting."""

import contextlib

import numpy as np
import pytest
import tensorflow as tf

import envs
from agents.episodes.collecting import (
    ActingInSome,
    Collector,
    RandomAtFirst,
    as_py_policy,
    first_episodes,
    random_policy,
)

STEP = tf.Variable(0, dtype=tf.int64)


@pytest.fixture
def pair():
    """Two fake environments of which no step was taken."""
    environment = envs.load_many(2, "fake", processes=False)
    yield environment
    environment.close()


def collect(environment, policy, times=1):
    """Pairs of environment number and episode."""
    finished = []
    collector = Collector(
        environment,
        policy,
        STEP,
        lambda episode, number: finished.append((number, episode)),
    )
    for _ in range(times):
        collector.collect()
    return finished


def test_each_environment_finishes_an_episode(pair):
    finished = collect(pair, random_policy(pair, seed=0), times=2)
    assert sorted(number for number, _ in finished) == [0, 0, 1, 1]
    for _, episode in finished:
        assert len(episode["reward"]) == envs.load("fake").episode_length + 1
        np.testing.assert_array_equal(np.flatnonzero(episode["is_first"]), [0])


def test_first_episodes_stand_in_the_order_of_the_environments(pair):
    found = first_episodes(pair, random_policy(pair, seed=0), STEP)
    for episode, seed in zip(found, envs.spread_seeds(0, 2), strict=True):
        start = envs.load("fake", seed=seed).reset().observation["position"]
        np.testing.assert_array_equal(episode["position"][0], start)


@pytest.mark.parametrize("fails", [False, True])
def test_environments_are_closed_at_the_end_and_on_an_error(pair, monkeypatch, fails):
    closed = []
    monkeypatch.setattr(pair, "close", lambda: closed.append(pair))
    policy = RandomAtFirst(random_policy(pair, 0), pair, lambda: 1 / 0 if fails else [0, 1])
    with pytest.raises(ZeroDivisionError) if fails else contextlib.nullcontext():
        first_episodes(pair, policy, STEP)
    assert closed == [pair]


def test_some_of_many_environments_are_acted_in_as_all_would_be(pair):
    all_of_them = random_policy(pair, seed=3, count=7).action(pair.reset()).action
    some = ActingInSome(random_policy(pair, seed=3, count=7), slice(4, 6))
    np.testing.assert_array_equal(some.action(pair.reset()).action, all_of_them[4:6])


def test_random_actions_are_uniform_and_differ_between_seeds(pair):
    first, second = (
        np.concatenate(
            [e["action"][1:] for _, e in collect(pair, random_policy(pair, s), 3)]
        )
        for s in (0, 1)
    )
    for actions in (first, second):
        assert np.abs(actions).max() <= 1
        assert np.std(actions) == pytest.approx(3**-0.5, rel=0.2)
    assert not np.any(np.isin(first, second))


def test_an_agent_collects_what_its_policy_does(pair, build_agent):
    agent = build_agent("action_noise.stddev=0.3")
    finished = collect(pair, as_py_policy(agent.collect_policy))
    assert len(finished) == 2
    for _, episode in finished:
        assert not np.any(episode["action"][0])
        assert np.std(episode["action"][1:]) > 0


def test_actions_are_random_at_first(pair, build_agent):
    agent, seeds = build_agent("action_noise.stddev=0.3"), [[0, 1], [0, 2], [0, 1], None]
    actions = []
    for seed in seeds:
        policy = RandomAtFirst(as_py_policy(agent.collect_policy), pair, lambda s=seed: s)
        actions.append(np.array([e["action"][1:] for _, e in collect(pair, policy)]))
    np.testing.assert_array_equal(actions[0], actions[2])
    assert not np.any(np.isin(actions[0], actions[1]))
    assert not np.any(np.isin(actions[0], actions[3]))
