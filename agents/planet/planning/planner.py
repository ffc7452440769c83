"""Planner: what the agent asks of a planner; elites, which all of them keep."""

from typing import NamedTuple, Protocol

from agents.system.errors import UserError
from agents.system.lazy import tf


class Plan(NamedTuple):
    """What a planner finds.

    Attributes:
        actions: [B, H, A] in [-1, 1].
        stddev: [B, H, A], of the elites around them: how far the best plans of the last
            iteration lie apart. A policy whose proposals are the elites makes it small.
    """

    actions: "tf.Tensor"
    stddev: "tf.Tensor"


class Planner(Protocol):
    """Finds the plan of highest score.

    Attributes:
        horizon: H, decisions that it looks ahead.
        common_noise: whether all candidates meet the same noise of the latents.
        evaluations: plans scored for one decision, without proposals.
    """

    horizon: int
    common_noise: bool
    evaluations: int

    def share(self, groups):
        """This planner with an equal share of the candidates and elites, rounded up.

        Args:
            groups: how many share them, see `agents.planet.planning.groups`.
        """

    def initial_state(self, batch_size, action_size):
        """What is carried to the first decision: a nest of tensors [B, ...]."""

    def plan(self, score, state, shape, seed, proposals=None):
        """The best plan found.

        Args:
            score: maps plans [B, N, H, A] and a seed [2] to scores [B, N].
            state: as returned for the decision before.
            shape: (B, A).
            seed: [2], of all random numbers.
            proposals: [B, P, H, A], plans that are candidates in every iteration beside
                those that the planner draws; None: there are none.

        Returns:
            `Plan` and the state for the next decision.
        """


def best(plans, scores, count):
    """The `count` plans of highest score, best first: [B, count, H, A]."""
    return tf.gather(plans, tf.math.top_k(scores, count).indices, batch_dims=1)


def moments(elites):
    """Mean and stddev over the elites [B, K, H, A]; 1e-6 keeps the stddev above 0."""
    mean, variance = tf.nn.moments(elites, axes=[1])
    return mean, tf.sqrt(variance + 1e-6)


def with_proposals(plans, proposals):
    """Candidates [B, N, H, A] and those that somebody proposes after them."""
    return plans if proposals is None else tf.concat([plans, proposals], axis=1)


def share(count, groups):
    """An equal share, rounded up."""
    return -(-count // groups)


def check_elites(planner):
    most, elites = planner.candidates, planner.elites
    if elites > most:
        raise UserError(f"elites must be at most candidates ({most}), got {elites}")
