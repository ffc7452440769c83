"""The value of a plan beyond its last step, and a policy that proposes plans.

    networks.py      two critics and a policy, on features of the latent
    targets.py       what critics learn, and the scales of values and bonuses
    actor_critic.py  their losses, and what planners ask of them
    explorer.py      critics of a bonus, and a policy that seeks it

With `none`, the score of a plan is the sum of its rewards: PlaNet as published. The
settings of both are here.
"""

import dataclasses
from typing import NamedTuple

from agents.system.settings import Settings, key

_LONGEST, _LEAST, _MOST = 5.0, 0.95, 0.995
_FAR = 0.99  # from here on critics need a faster pace


@dataclasses.dataclass(frozen=True)
class NoValue(Settings):
    """The score of a plan is the sum of its rewards. No policy proposes plans."""


@dataclasses.dataclass(frozen=True)
class TemporalDifference(Settings):
    """Critics and a policy that learn from the replay beside the model.

    Source: Hansen et al., 2022, Temporal Difference Learning for Model Predictive Control
    (TD-MPC), section 3; Fujimoto et al., 2018, Addressing Function Approximation Error in
    Actor-Critic Methods (two critics, slow targets).

    Args:
        updates: gradient steps of critics and policy in one of the model, on the same
            features; None: by `pace_of`. Each learns from other steps of the sequences: of
            `stride` updates each step is in one.
        discount: of one decision; None: by `discount_of`.
        target_steps: n, rewards in a target before the value.
        stride: an update learns from one in so many steps of a sequence; the other steps
            are only what follows. In every second sequence of a batch, the last step that
            is learned from is the last that has a target. The last n - 1 decisions of an
            episode that a time limit cut have no target.
        layers: hidden layers of each network.
        units: of each hidden layer.
        centered: whether critics learn the value of a state minus the value of the mean
            reward forever, see `agents.planet.value.actor_critic`; None: true where an
            episode can end before its time limit.
        learning_rate: Adam's, of critics and policy; None: by `pace_of`.
        clip_norm: largest global norm of the gradient of critics and of policy, each.
        target_rate: share by which the slow copies move to the critics in an update.
        entropy: weight of the policy's entropy, in nats, against the value divided by its
            spread.
        proposals: plans that the policy proposes to the planner in every decision.
        return_lambda: share by which a plan's return looks beyond each step of it to the
            next reward rather than to the value there; 1: to the whole horizon.
        target_draws: K draws of the weights, which predict the outcome of the policy's
            action in a target, see `agents.planet.value.targets.worth_over_draws`; 0: the
            critics give its value. A deterministic transition has one draw, its weights.
        pessimism: lambda, stddevs over those draws that a target is lowered by.
        imitation: weight of the squared distance of the policy's action from the replayed
            one, against the value divided by its spread: keeps it near the data. Source:
            Fujimoto and Gu, 2021, A Minimalist Approach to Offline Reinforcement Learning
            (TD3+BC), equation 3.
    """

    updates: int | None = key(least=1)
    discount: float | None = key(above=0, below=1)
    target_steps: int = key(least=1)
    stride: int = key(least=1)
    layers: int = key(least=1)
    units: int = key(least=1)
    centered: bool | None = key()
    learning_rate: float | None = key(above=0)
    clip_norm: float = key(above=0)
    target_rate: float = key(above=0, most=1)
    entropy: float = key(least=0)
    proposals: int = key(least=0)
    return_lambda: float = key(least=0, most=1)
    target_draws: int = key(least=0)
    pessimism: float = key(least=0)
    imitation: float = key(least=0)


def discount_of(decisions):
    """The discount of one decision by the length of an episode.

        clip(1 - 5 / decisions, 0.95, 0.995)

    So a fifth of an episode counts. Source: Hansen et al., 2024, TD-MPC2, appendix.

    Args:
        decisions: of a full episode; None, where nobody knows: the largest.

    Example:
        >>> discount_of(250)
        0.98
    """
    if decisions is None:
        return _MOST
    return min(max(1.0 - _LONGEST / decisions, _LEAST), _MOST)


class Pace(NamedTuple):
    """How fast is learned from what was collected."""

    updates_per_step: float  # gradient steps over environment steps
    sequence_length: int  # agent steps
    updates: int  # of critics and policy in a gradient step
    learning_rate: float  # of critics and policy


SLOW, FAST = Pace(0.3, 32, 1, 3e-4), Pace(0.6, 16, 4, 1e-3)


def pace_of(discount):
    """The pace that learning needs by the discount: `FAST` from 0.99 on, else `SLOW`.

    Values grow from 0 over 1 / (target_rate (1 - discount)) updates: with the usual rate of
    0.01 over 5,000 where the discount is 0.98, and over 10,000 where it is 0.99. There an
    action is often held for fewer steps, so that 0.3 gradient steps are few for a decision.
    Walker and finger tasks score more with the faster pace, see `results/levers`.

    Example:
        >>> pace_of(0.99).updates_per_step, pace_of(0.98).updates_per_step
        (0.6, 0.3)
    """
    return FAST if discount >= _FAR else SLOW


VALUES = {"none": NoValue, "td": TemporalDifference}

__all__ = [
    "FAST",
    "SLOW",
    "VALUES",
    "NoValue",
    "Pace",
    "TemporalDifference",
    "discount_of",
    "pace_of",
]
