"""Exploit only."""

import dataclasses

from agents.planet.explore.strategy import Strategy, returns
from agents.system.settings import Settings


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
