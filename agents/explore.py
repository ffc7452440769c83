"""Exploration strategies: how imagined rollouts become the score of a plan.

A strategy is a frozen dataclass that the planner's caller asks

* `draws`: how many draws of the weights to imagine with; 0 stands for the mean weights,
* `redraw`: when to take new draws, at each "episode" or at each "decision",
* `share_trajectory`: whether the draws predict from one common trajectory (see
  `agents.imagination`) or each from its own,
* `filter_with_draw`: whether the agent's own filter uses the (first) draw as well,

and that maps a `Rollout` to one score per candidate plan, [B, N]. It knows nothing of
TF-Agents or of the planner. Noise on actions is no strategy of this kind: see
`agents.action_noise`.
"""

import dataclasses
from typing import ClassVar, Protocol

import tensorflow as tf

from agents.imagination import Rollout


class Strategy(Protocol):
    """What the agent asks of a strategy."""

    draws: int
    redraw: str
    share_trajectory: bool
    filter_with_draw: bool

    def __call__(self, rollout: Rollout, progress) -> tf.Tensor:
        """Scores plans.

        Args:
            rollout: reward [S, B, N, H], mean and stddev [S, B, N, H, D].
            progress: [], share of the run's environment steps done, for annealing.

        Returns:
            [B, N], higher is better.
        """


@dataclasses.dataclass(frozen=True)
class Greedy:
    """Exploit only: the return under the mean weights.

        score = sum over the horizon of the mean reward

    Source: Hafner et al., 2019, algorithm 2.

    Example:
        >>> rollout = Rollout(reward=tf.ones([1, 2, 3, 5]), mean=None, stddev=None)
        >>> Greedy()(rollout, progress=0.0).numpy().tolist()
        [[5.0, 5.0, 5.0], [5.0, 5.0, 5.0]]
    """

    draws: ClassVar[int] = 0
    redraw: ClassVar[str] = "episode"
    share_trajectory: ClassVar[bool] = False
    filter_with_draw: ClassVar[bool] = False

    def __call__(self, rollout, progress):
        del progress
        return tf.reduce_sum(rollout.reward[0], axis=-1)
