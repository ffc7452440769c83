"""Strategy: what the agent asks of an exploration strategy."""

from typing import Protocol

import tensorflow as tf

from agents.planning.rollouts import Rollout


class Strategy(Protocol):
    """Maps imagined rollouts to scores.

    Attributes:
        draws: how many draws of the weights to imagine with; 0: the mean weights.
        redraw: when to take new draws, at each "episode" or at each "decision".
        trajectories: how the draws carry a plan forward, of
            `agents.planning.imagination.TRAJECTORIES`.
        filter_with_draw: whether the agent's own filter uses the (first) draw as well.
        groups: of candidates that are never mixed, each with a plan of its own, see
            `agents.planning.groups`; 1: the planner is used as it is.
    """

    draws: int
    redraw: str
    trajectories: str
    filter_with_draw: bool
    groups: int

    def __call__(self, rollout: Rollout, progress) -> tf.Tensor:
        """Scores plans.

        Args:
            rollout: reward and reached [S, B, N, H], mean and stddev [S, B, N, H, D].
            progress: [], share of the run's environment steps done, for annealing.

        Returns:
            [B, N], higher is better.
        """


def returns(rollout) -> tf.Tensor:
    """Expected sum of the mean reward over the horizon, [S, B, N]."""
    return over_horizon(rollout, rollout.reward)


def over_horizon(rollout, values) -> tf.Tensor:
    """Expected sum of what each step is worth; steps after an episode's end count nothing.

        sum over k of reached_k * value_k

    Args:
        rollout: `agents.planning.rollouts.Rollout`.
        values: [S or 1, B, N, H].

    Returns:
        [S, B, N].

    Example:
        >>> reached = tf.constant([1.0, 0.5, 0.25])
        >>> rollout = Rollout(tf.ones([1, 1, 1, 3]), None, None, reached)
        >>> over_horizon(rollout, rollout.reward).numpy().tolist()
        [[[1.75]]]
    """
    return tf.reduce_sum(rollout.reached * values, axis=-1)


def check_choice(key, value, choices):
    """Raises a ValueError that names the key unless the value is one of the choices."""
    if value not in choices:
        raise ValueError(f"explore.{key} must be one of {', '.join(choices)}, got {value}")


def check_least(key, value, least):
    """Raises a ValueError that names the key unless the value is large enough."""
    if value < least:
        raise ValueError(f"explore.{key} must be at least {least}, got {value}")
