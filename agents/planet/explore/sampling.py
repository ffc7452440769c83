"""The return alone: of the mean weights, of one draw (Thompson), or a mean over draws."""

import dataclasses
from typing import ClassVar

from agents.planet.explore.strategy import REDRAWS, Strategy, returns
from agents.system.lazy import tf
from agents.system.settings import Settings, key


@dataclasses.dataclass(frozen=True)
class Greedy(Settings, Strategy):
    """The return under the mean weights.

        score = sum over the horizon of the mean reward

    Source: Hafner et al., 2019, Learning Latent Dynamics for Planning from Pixels,
    algorithm 2.

    Example:
        >>> import tensorflow as tf
        >>> from agents.planet.explore.strategy import Elapsed
        >>> from agents.planet.planning.rollouts import Rollout
        >>> rollout = Rollout(reward=tf.ones([1, 2, 3, 5]), mean=None, stddev=None)
        >>> Greedy()(rollout, Elapsed()).numpy().tolist()
        [[5.0, 5.0, 5.0], [5.0, 5.0, 5.0]]
    """

    def __call__(self, rollout, elapsed):
        del elapsed
        return returns(rollout)[0]


@dataclasses.dataclass(frozen=True)
class Thompson(Settings, Strategy):
    """Acts as if drawn weights were the true ones.

        score = return under w,  w ~ q(w)

    With one draw an episode, filter and plans of the whole episode believe in the same w
    (posterior sampling for reinforcement learning); with one draw a decision the beliefs
    dither. With more than one draw the candidates form as many groups. Each keeps to a w of
    its own in all iterations of the planner, and of the groups' plans the one whose return
    under its own w is highest is acted on: optimistic.

    Source: Osband et al., 2013, (More) Efficient Reinforcement Learning via Posterior
    Sampling, algorithm 1.

    Args:
        redraw: "episode" or "decision".
        draws: groups of candidates; more than one leaves the filter to the mean weights.

    Raises:
        ValueError: an argument is out of its range.

    Example:
        >>> from agents.planet.explore.strategy import Elapsed
        >>> from agents.planet.planning.rollouts import Rollout
        >>> rollout = Rollout(tf.constant([[[[1.0, 2.0]]]]), mean=None, stddev=None)
        >>> strategy = Thompson(redraw="episode", draws=1)
        >>> strategy(rollout, Elapsed()).numpy().tolist()
        [[3.0]]
    """

    redraw: str = key(choices=REDRAWS)
    draws: int = key(least=1)
    trajectories: ClassVar[str] = "group"

    @property
    def groups(self):
        return self.draws

    @property
    def filter_with_draw(self):
        return self.draws == 1 and self.redraw == "episode"

    def __call__(self, rollout, elapsed):
        del elapsed
        return returns(rollout)[0]


@dataclasses.dataclass(frozen=True)
class MeanOverDraws(Settings, Strategy):
    """The mean return over particles that follow different draws: no bonus.

        score = mean over k of the return of particle k

    The particles keep their draw for the whole plan ("each", TS-infinity), change it at
    every step ("switching", TS1), or are averaged after every step ("average", E).

    Source: Chua et al., 2018, Deep Reinforcement Learning in a Handful of Trials using
    Probabilistic Dynamics Models (PETS), section 5.

    Args:
        draws: particles, at least 1.
        trajectories: "each", "switching" or "average".

    Raises:
        ValueError: an argument is out of its range.

    Example:
        >>> from agents.planet.explore.strategy import Elapsed
        >>> from agents.planet.planning.rollouts import Rollout
        >>> rollout = Rollout(tf.constant([[[[1.0]]], [[[2.0]]]]), mean=None, stddev=None)
        >>> strategy = MeanOverDraws(draws=2, trajectories="each")
        >>> strategy(rollout, Elapsed()).numpy().tolist()
        [[1.5]]
    """

    draws: int = key(least=1)
    trajectories: str = key(choices=("each", "switching", "average"))

    def __call__(self, rollout, elapsed):
        del elapsed
        return tf.reduce_mean(returns(rollout), axis=0)
