"""Planner: what the agent asks of a planner."""

from typing import NamedTuple, Protocol

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
