"""Tests of agents.planet.explore.risk, against numbers worked out by hand."""

import numpy as np
import pytest
import tensorflow as tf

from agents.planet.explore import ConditionalValueAtRisk, Optimistic, UpperConfidence
from agents.planet.explore.strategy import Elapsed
from agents.planet.planning.rollouts import Rollout

# Returns of four draws: of plan 0: 1, 3, 5, 7; of plan 1: 4, 4, 4, 4.
FIRST, SECOND = [1.0, 3.0, 5.0, 7.0], [4.0] * 4
REWARD = tf.constant(
    [[[[a / 2, a / 2], [b, 0.0]]] for a, b in zip(FIRST, SECOND, strict=True)]
)
ROLLOUT = Rollout(REWARD, None, None)


@pytest.mark.parametrize(
    ("strategy", "scores"),
    [
        (UpperConfidence(1.0, None, 1.0, draws=4), [4.0 + 5.0**0.5, 4.0]),
        (UpperConfidence(-1.0, None, 1.0, draws=4), [4.0 - 5.0**0.5, 4.0]),
        (Optimistic(draws=4), [7.0, 4.0]),
        (ConditionalValueAtRisk(alpha=0.5, draws=4), [2.0, 4.0]),
        (ConditionalValueAtRisk(alpha=0.3, draws=4), [2.0, 4.0]),
        (ConditionalValueAtRisk(alpha=1.0, draws=4), [4.0, 4.0]),
    ],
)
def test_scores(strategy, scores):
    np.testing.assert_allclose(strategy(ROLLOUT, Elapsed()), [scores], rtol=1e-5)


def test_beta_is_annealed():
    strategy = UpperConfidence(beta=2.0, final_beta=0.0, annealing_steps=20, draws=4)
    for steps, beta in ((0, 2.0), (10, 1.0), (20, 0.0), (40, 0.0)):
        expected = 4.0 + beta * 5.0**0.5
        np.testing.assert_allclose(
            strategy(ROLLOUT, Elapsed(steps))[0, 0], expected, rtol=1e-5
        )


@pytest.mark.parametrize("beta", [2.0, -0.5])
def test_beta_alone_holds_all_along(beta):
    strategy = UpperConfidence(beta, None, None, draws=4)
    for steps in (0, 20, 40):
        expected = 4.0 + beta * 5.0**0.5
        np.testing.assert_allclose(
            strategy(ROLLOUT, Elapsed(steps))[0, 0], expected, rtol=1e-5
        )


@pytest.mark.parametrize(("alpha", "draws", "count"), [(0.07, 100, 7), (1 / 49, 49, 1)])
def test_share_of_the_lowest_is_not_rounded_up_by_rounding_errors(alpha, draws, count):
    reward = tf.range(draws, dtype=tf.float32)[:, None, None, None]
    strategy = ConditionalValueAtRisk(alpha=alpha, draws=draws)
    score = strategy(Rollout(reward, None, None), Elapsed())
    np.testing.assert_allclose(score, [[(count - 1) / 2]])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: UpperConfidence(1.0, None, 1.0, draws=1),
            "draws must be at least 2, got 1",
        ),
        (
            lambda: ConditionalValueAtRisk(alpha=0.0, draws=4),
            "alpha must be above 0, got 0",
        ),
        (
            lambda: ConditionalValueAtRisk(alpha=0.1, draws=5),
            r"draws must be at least 1 / alpha \(10\), got 5",
        ),
    ],
)
def test_wrong_arguments_are_named(make, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        make()
