"""Scores from the spread of a plan's return over weight draws."""

import dataclasses
import math
from typing import ClassVar

from agents.planet.explore.strategy import Strategy, anneal, returns
from agents.system.errors import UserError
from agents.system.lazy import tf
from agents.system.settings import Settings, key


@dataclasses.dataclass(frozen=True)
class UpperConfidence(Settings, Strategy):
    """Mean return plus beta stddevs over draws; a negative beta is pessimistic (LCB).

        score = mean over k of R_k + beta * stddev over k of R_k

    Source: Auer et al., 2002, Finite-time Analysis of the Multiarmed Bandit Problem; with
    an ensemble's stddev: Chen et al., 2017, UCB Exploration via Q-Ensembles.

    Args:
        beta: weight of the stddev at the start of the run.
        final_beta: weight of the stddev after `annealing_steps`, linear in between; None:
            `beta` all along.
        annealing_steps: environment steps of the run to `final_beta`; None where that is.
        draws: at least 2.

    Raises:
        ValueError: an argument is out of its range.

    Example:
        >>> from agents.planet.explore.strategy import Elapsed
        >>> from agents.planet.planning.rollouts import Rollout
        >>> rollout = Rollout(tf.constant([[[[1.0]]], [[[3.0]]]]), mean=None, stddev=None)
        >>> settings = {"final_beta": None, "annealing_steps": None}
        >>> strategy = UpperConfidence(beta=2.0, **settings, draws=2)
        >>> strategy(rollout, Elapsed()).numpy().tolist()
        [[4.0]]
    """

    beta: float = key()
    final_beta: float | None = key()
    annealing_steps: int | None = key(least=1)
    draws: int = key(least=2)
    trajectories: ClassVar[str] = "each"

    def __call__(self, rollout, elapsed):
        mean, variance = tf.nn.moments(returns(rollout), axes=[0])
        phase = elapsed.environment_steps, self.annealing_steps
        beta = anneal(self.beta, self.final_beta, phase)
        return mean + beta * tf.sqrt(variance)


@dataclasses.dataclass(frozen=True)
class Optimistic(Settings, Strategy):
    """The return under the most favourable draw.

        score = max over k of R_k

    Source: Luo et al., 2019, Algorithmic Framework for Model-based Deep Reinforcement
    Learning with Theoretical Guarantees; the finite-sample form of optimism over models.

    Args:
        draws: at least 2.

    Raises:
        ValueError: an argument is out of its range.

    Example:
        >>> from agents.planet.explore.strategy import Elapsed
        >>> from agents.planet.planning.rollouts import Rollout
        >>> rollout = Rollout(tf.constant([[[[1.0]]], [[[3.0]]]]), mean=None, stddev=None)
        >>> Optimistic(draws=2)(rollout, Elapsed()).numpy().tolist()
        [[3.0]]
    """

    draws: int = key(least=2)
    trajectories: ClassVar[str] = "each"

    def __call__(self, rollout, elapsed):
        del elapsed
        return tf.reduce_max(returns(rollout), axis=0)


@dataclasses.dataclass(frozen=True)
class ConditionalValueAtRisk(Settings, Strategy):
    """Safe: the mean of the lowest returns over draws.

        score = mean of the ceil(alpha S) lowest R_k

    Source: Rockafellar and Uryasev, 2000, Optimization of Conditional Value-at-Risk.

    Args:
        alpha: share of the draws that count, in (0, 1].
        draws: at least 1 / alpha; of fewer, the worst one would be a larger share.

    Raises:
        ValueError: an argument is out of its range.

    Example:
        >>> from agents.planet.explore.strategy import Elapsed
        >>> from agents.planet.planning.rollouts import Rollout
        >>> reward = tf.constant([[[[3.0]]], [[[1.0]]], [[[2.0]]], [[[4.0]]]])
        >>> rollout = Rollout(reward, mean=None, stddev=None)
        >>> strategy = ConditionalValueAtRisk(alpha=0.5, draws=4)
        >>> strategy(rollout, Elapsed()).numpy().tolist()
        [[1.5]]
    """

    alpha: float = key(above=0, most=1)
    draws: int = key(least=1)
    trajectories: ClassVar[str] = "each"

    def __post_init__(self):
        super().__post_init__()
        if round(self.alpha * self.draws, 9) < 1:
            raise UserError(
                f"draws must be at least 1 / alpha ({1 / self.alpha:g}), got {self.draws}"
            )

    def __call__(self, rollout, elapsed):
        del elapsed
        lowest = _ceil(self.alpha * self.draws)
        return tf.reduce_mean(tf.sort(returns(rollout), axis=0)[:lowest], axis=0)


def _ceil(number):
    """The next whole number; 0.07 * 100, which is 7.000000000000001, is 7."""
    return math.ceil(round(number, 9))
