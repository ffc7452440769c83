"""Tests of agents.agent.gradient_steps.averaging."""

import numpy as np
import pytest
import tensorflow as tf

from agents.agent.building import choose_devices
from agents.agent.gradient_steps.averaging import WeightAverage
from agents.training.learning import Learning

SHARE = 0.1


def _averaged(share, learned):
    """What a variable holds after steps that have learned these values."""
    weight = tf.Variable(tf.zeros_like(learned[0]))
    average = WeightAverage([weight], share)
    with average.learning():
        for step, value in enumerate(learned, 1):
            weight.assign(value)
            average.follow(tf.constant(step, tf.int64))
    return weight.numpy()


def test_a_step_counts_by_a_power_of_its_number(noise):
    learned = noise(40, 3).numpy()
    # Of the recursion: step k counts rate_k times what later steps leave of it.
    rates = 1 / (1 + SHARE * np.arange(40))
    weights = rates * np.append(np.cumprod(1 - rates[::-1])[-2::-1], 1)
    np.testing.assert_allclose(_averaged(SHARE, learned), weights @ learned, atol=1e-6)
    ages = np.arange(39, -1, -1)
    assert weights.sum() == pytest.approx(1)
    assert weights @ ages == pytest.approx(39 * SHARE / (1 + SHARE))


def test_the_share_of_all_is_the_mean_and_that_of_next_to_none_the_last(noise):
    learned = noise(20, 2)
    np.testing.assert_allclose(_averaged(1.0, learned), np.mean(learned, 0), atol=1e-6)
    np.testing.assert_allclose(_averaged(1e-9, learned), learned[-1], atol=1e-6)


def _variables(agent, trainable=False):
    parts = [agent.model, agent.value] if agent.value else [agent.model]
    names = "trainable_variables" if trainable else "variables"
    return [variable for part in parts for variable in getattr(part, names)]


def _values(agent):
    return [variable.numpy() for variable in _variables(agent)]


@pytest.mark.parametrize(("strategy", "value"), [("default", "td"), ("mirrored", "none")])
def test_an_agent_acts_by_the_average_of_what_it_learns_without_it(
    strategy, value, build_agent, replay
):
    words = f"strategy={strategy}", f"value={value}"
    plain, averaging = (build_agent(f"averaging={share}", *words) for share in (0, SHARE))
    devices = choose_devices(strategy)
    seen = {}
    for agent in (plain, averaging):
        learning = Learning(agent, replay, devices, 4, 8, seed=0)
        seen[agent] = [
            (learning.run(1, lambda done: None), _values(agent))[1] for _ in range(5)
        ]
    with averaging.learning():
        learned = _values(averaging)
    for mine, last in zip(learned, seen[plain][-1], strict=True):
        np.testing.assert_allclose(mine, last, atol=1e-6)
    moved = {variable.ref() for variable in _variables(averaging, trainable=True)}
    steps = zip(*seen[plain], strict=True)
    for variable, acting, values in zip(
        _variables(averaging), seen[averaging][-1], steps, strict=True
    ):
        is_averaged = variable.ref() in moved
        expected = _averaged(SHARE, values) if is_averaged else values[-1]
        np.testing.assert_allclose(acting, expected, atol=1e-5)
