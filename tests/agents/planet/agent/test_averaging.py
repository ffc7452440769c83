"""Tests of agents.planet.agent.averaging."""

import contextlib

import numpy as np
import pytest
import tensorflow as tf
from scipy import special

from agents.planet.agent.averaging import WeightAverage
from agents.training.building import choose_devices
from agents.training.learning import Learning

SHARE = 0.1


def _average_of(share, learned):
    """What a variable holds in place of what these steps have learned."""
    weight = tf.Variable(tf.zeros_like(learned[0]))
    average = WeightAverage([weight], share)
    for step, value in enumerate(learned, 1):
        weight.assign(value)
        average.follow(tf.constant(step, tf.int64))
    with average.in_place():
        return weight.numpy()


def test_steps_count_by_a_power_of_their_number_and_are_a_share_of_all_old():
    count, power = 2000, 1 / SHARE - 1
    counted = _average_of(SHARE, np.eye(count, dtype=np.float32))
    steps = np.arange(1, count + 1)
    # Unrolled, the recursion has ratios of gamma functions, which come to be powers.
    exact = np.exp(special.gammaln(steps + power) - special.gammaln(steps))
    np.testing.assert_allclose(counted, exact / exact.sum(), rtol=1e-3, atol=1e-9)
    powers = (steps / count) ** power
    np.testing.assert_allclose(counted, powers / powers.sum(), rtol=0.05, atol=1e-4)
    age = counted @ (count - steps)
    assert age == pytest.approx((count - 1) * SHARE / (1 + SHARE), rel=1e-4)


def test_the_share_of_all_is_the_mean_and_that_of_next_to_none_the_last(noise):
    learned = noise(20, 2).numpy()
    np.testing.assert_allclose(_average_of(1.0, learned), learned.mean(0), atol=1e-6)
    np.testing.assert_allclose(_average_of(1e-9, learned), learned[-1], atol=1e-6)


def test_what_was_learned_comes_back_after_an_error_too():
    weight = tf.Variable(0.0)
    average = WeightAverage([weight], share=1.0)
    for step in (1, 2):
        weight.assign(step)
        average.follow(step)
    with contextlib.suppress(KeyboardInterrupt), average.in_place():
        assert float(weight) == 1.5
        raise KeyboardInterrupt
    assert float(weight) == 2.0


def _variables(agent, trainable=False):
    parts = [agent.model, agent.value] if agent.value else [agent.model]
    names = "trainable_variables" if trainable else "variables"
    return [variable for part in parts for variable in getattr(part, names)]


def _values(agent):
    return [variable.numpy() for variable in _variables(agent)]


@pytest.mark.parametrize(
    ("strategy", "value"),
    [("default", "td"), pytest.param("mirrored", "none", marks=pytest.mark.slow)],
)
def test_all_that_decides_is_averaged_over_what_gradient_steps_have_learned(
    strategy, value, build_agent, replay
):
    agent = build_agent(f"averaging={SHARE}", f"strategy={strategy}", f"value={value}")
    learning = Learning(agent, replay, choose_devices(strategy), 4, 8, seed=0)
    learned = [(learning.run(1, lambda done: None), _values(agent))[1] for _ in range(5)]
    with agent.averaged():
        averaged = _values(agent)
    for mine, last in zip(_values(agent), learned[-1], strict=True):
        np.testing.assert_array_equal(mine, last)
    trained = {variable.ref() for variable in _variables(agent, trainable=True)}
    steps = zip(*learned, strict=True)
    for variable, found, values in zip(_variables(agent), averaged, steps, strict=True):
        is_averaged = variable.ref() in trained
        expected = _average_of(SHARE, values) if is_averaged else values[-1]
        np.testing.assert_allclose(found, expected, atol=1e-5)
