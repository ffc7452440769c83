"""Tests of agents.training.compiling: XLA changes how fast numbers come, not which."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest
import tensorflow as tf

from agents.episodes.collecting import as_py_policy
from agents.planet.model.transitions import SOURCES
from agents.training.compiling import CompilingAhead

TRANSITIONS = [
    name if name == "flipout" else pytest.param(name, marks=pytest.mark.slow)
    for name in SOURCES
]


ANNEALED = "explore=information_gain_annealed"


@pytest.mark.slow
def test_compiling_prints_nothing():
    code = """
from envs.quiet import import_tensorflow
tf = import_tensorflow()
from agents.training.compiling import take_notice
take_notice()
tf.function(lambda x: 2.0 * x, jit_compile=True)(tf.constant(3.0))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.slow
@pytest.mark.parametrize("transition", TRANSITIONS)
def test_compiled_gradients_are_those_of_eager_execution(
    build_agent, make_batch, transition
):
    agent = build_agent("compile=true", "value=td", f"transition={transition}")
    given = (batch := make_batch(4, 3), agent._drawn(batch))
    computing = (agent._traced_gradients, agent._loss_and_gradients)
    results = [compute(*given) for compute in computing]
    for one, two in zip(*map(tf.nest.flatten, results), strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-4, atol=1e-5)


@pytest.mark.slow
def test_compiled_decisions_are_greedy_once_the_bonus_has_ended(
    build_agent, environment, quick_planner
):
    actions = []
    for strategy in (ANNEALED, "explore=noise"):
        agent = build_agent("compile=true", strategy, *quick_planner)
        policy = agent.collect_policy
        step = tf.nest.map_structure(tf.constant, environment.reset())
        state = policy.get_initial_state(2)
        for environment_steps in (0, 10_000):
            agent.clock.environment_steps.assign(environment_steps)
            actions.append(policy.action(step, state).action)
    with_bonus, after_it, greedy_at_first, greedy = actions
    assert np.any(with_bonus != greedy_at_first)
    np.testing.assert_allclose(after_it, greedy, atol=1e-5)


@pytest.mark.slow
def test_compiled_decisions_depend_on_the_seed_of_the_episode_alone(
    build_agent, environment
):
    agent = build_agent("compile=true", "explore=information_gain")
    policy = agent.collect_policy
    step = tf.nest.map_structure(tf.constant, environment.reset())
    state = policy.get_initial_state(2)
    first, again = (policy.action(step, state) for _ in range(2))
    np.testing.assert_array_equal(first.action, again.action)
    agent.clock.episodes.assign_add(1)
    other = policy.action(step, policy.get_initial_state(2))
    assert np.any(first.action != other.action)


@pytest.fixture
def cores(monkeypatch):
    return lambda some: monkeypatch.setattr(os, "sched_getaffinity", lambda _: some)


@pytest.mark.slow
def test_decisions_that_are_compiled_ahead_are_those_that_are_asked_for(
    build_agent, environment, cores, quick_planner
):
    cores({0, 1})
    policy = build_agent("compile=true", ANNEALED, *quick_planner).collect_policy
    functions = policy._choose_by_strategy, policy._choose_greedily

    def traced():
        return [function.experimental_get_tracing_count() for function in functions]

    CompilingAhead([(policy, 2)]).wait()
    assert traced() == [1, 1]
    acting = as_py_policy(policy)
    for environment_steps in (0, 10_000):
        policy._clock.environment_steps.assign(environment_steps)
        acting.action(environment.reset(), acting.get_initial_state(2))
    assert traced() == [1, 1]


@pytest.mark.slow
def test_what_a_run_will_not_ask_for_again_is_not_compiled_ahead(build_agent):
    policy = build_agent("compile=true", ANNEALED).collect_policy
    policy._clock.environment_steps.assign(10_000)
    assert len(policy.trace(2)) == 1
    assert policy._choose_by_strategy.experimental_get_tracing_count() == 0


@pytest.mark.slow
def test_a_bonus_that_begins_later_is_not_compiled_ahead_of_its_time(build_agent):
    policy = build_agent("compile=true", "explore=information_gain_if_rare").collect_policy
    assert len(policy.trace(2)) == 1
    assert policy._choose_by_strategy.experimental_get_tracing_count() == 0
    policy._clock.environment_steps.assign(25_000)
    assert len(policy.trace(2)) == 2


def test_without_xla_nothing_is_traced_ahead(build_agent):
    assert build_agent(ANNEALED).collect_policy.trace(2) == []


class Calls:
    """In place of a policy: the first call waits until it may end, the next fails."""

    def __init__(self):
        self.asked = []
        self.count = 0
        self.begun, self.may_end = threading.Event(), threading.Event()

    def trace(self, batch_size):
        self.asked.append(batch_size)
        return [self._call] * batch_size

    def _call(self):
        self.count += 1
        self.begun.set()
        self.may_end.wait(60)
        if self.count == 2:
            raise tf.errors.InternalError(None, None, "does not compile")


def test_all_that_is_asked_for_is_compiled_ahead(cores, capsys):
    cores({0, 1})
    calls = Calls()
    calls.may_end.set()
    CompilingAhead([(calls, 3)]).wait()
    assert calls.count == 3
    assert capsys.readouterr() == ("", "")


def test_nothing_is_traced_ahead_where_one_core_does_all(cores):
    cores({0})
    calls = Calls()
    CompilingAhead([(calls, 3)]).wait()
    assert not calls.asked


def test_what_is_under_way_is_finished_at_the_end_and_no_more_is_begun(cores):
    cores({0, 1})
    calls = Calls()
    ahead = CompilingAhead([(calls, 3)])
    calls.begun.wait(60)
    ahead.stop()
    calls.may_end.set()
    ahead.wait()
    assert calls.count == 1
