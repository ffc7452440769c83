"""The interface of a planner, and functions that planners share."""

import dataclasses
from typing import NamedTuple, Protocol

from agents.planet.action_space import BOX
from agents.system.lazy import tf
from agents.system.seeds import split


class Plan(NamedTuple):
    """What a planner finds.

    Attributes:
        actions: [B, H, A].
        spread: [B, H, A], how far the best plans of the last iteration lie apart: the
            stddev of elites around the actions, or how often they choose each category. A
            policy whose proposals are the elites makes it small.
    """

    actions: "tf.Tensor"
    spread: "tf.Tensor"


class Planner(Protocol):
    """Finds the plan of highest score.

    Attributes:
        horizon: H, decisions that it looks ahead.
        common_noise: whether all candidates have the same noise of the latents.
        evaluations: plans scored for one decision, without proposals.
    """

    horizon: int
    common_noise: bool
    evaluations: int

    def share(self, groups):
        """This planner with an equal share of the candidates and elites, rounded up.

        Args:
            groups: how many share them, see `agents.planet.planning.planner`.
        """

    def initial_state(self, batch_size, action_size):
        """What is carried to the first decision: a nest of tensors [B, ...]."""

    def plan(self, score, state, shape, seed, proposals=None, space=BOX):
        """The best plan found.

        Args:
            score: maps plans [B, N, H, A] and a seed [2] to scores [B, N].
            state: as returned for the decision before.
            shape: (B, A).
            seed: [2], of all random numbers.
            proposals: [B, P, H, A], plans that are candidates in every iteration beside
                those that the planner draws; None: there are none.
            space: of actions, see `agents.planet.action_space`.

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
    """Candidates [B, N, H, A], followed by the proposals."""
    return plans if proposals is None else tf.concat([plans, proposals], axis=1)


def share(count, groups):
    """An equal share, rounded up."""
    return -(-count // groups)


@dataclasses.dataclass(frozen=True)
class PlannerOfGroups:
    """A planner for each group of candidates; the best of their plans is the plan.

    A group has its own mean, stddev and elites in every iteration, and its own state from
    one decision to the next. So a score that tells groups apart judges all that becomes of
    a candidate alike. In the end it judges the plan of each group.

    Of S groups each gets an S-th of the planner's candidates and elites.

    Example:
        >>> from agents.planet.planning import CrossEntropy
        >>> planner = PlannerOfGroups(CrossEntropy(2, 100, 10, 3, False), groups=2)
        >>> def score(plans, seed):  # the second group is always better
        ...     return tf.repeat([[0.0, 1.0]], plans.shape[1] // 2, axis=1)
        >>> plan, _ = planner.plan(score, (), shape=(1, 1), seed=tf.constant([0, 1]))
        >>> plan.actions.shape
        TensorShape([1, 2, 1])
    """

    planner: Planner
    groups: int

    @property
    def common_noise(self) -> bool:
        return self.planner.common_noise

    @property
    def horizon(self) -> int:
        return self.planner.horizon

    @property
    def evaluations(self) -> int:
        return self.groups * (self._member.evaluations + 1)

    @property
    def _member(self):
        return self.planner.share(self.groups)

    def initial_state(self, batch_size, action_size):
        """That of each group, [B, S, ...]."""
        rows = batch_size * self.groups
        return self._by_group(self._member.initial_state(rows, action_size))

    def plan(self, score, state, shape, seed, proposals=None, space=BOX):
        """The best plan of any group; arguments and results as in `Planner.plan`.

        Each group gets all proposals.

        The plans that `score` gets, [B, N, H, A], are S equal parts, one of each group in
        turn. The groups are rows of one batch, so they take the time of one planner.
        """
        batch_size, action_size = shape
        rows = batch_size * self.groups
        seeds = split(seed, 2)

        def score_rows(plans, seed):
            _, size, *event = plans.shape
            together = tf.reshape(plans, [batch_size, self.groups * size, *event])
            return tf.reshape(score(together, seed), [rows, size])

        state = tf.nest.map_structure(lambda x: tf.reshape(x, [rows, *x.shape[2:]]), state)
        if proposals is not None:
            proposals = tf.repeat(proposals, self.groups, axis=0)
        plans, state = self._member.plan(
            score_rows, state, (rows, action_size), seeds[0], proposals, space
        )
        plans, state = self._by_group((plans, state))
        best = tf.argmax(score(plans.actions, seeds[1]), axis=1)
        chosen = tf.nest.map_structure(lambda x: tf.gather(x, best, batch_dims=1), plans)
        return chosen, state

    def _by_group(self, nest):
        """[B * S, ...] -> [B, S, ...]."""
        return tf.nest.map_structure(
            lambda x: tf.reshape(x, [x.shape[0] // self.groups, self.groups, *x.shape[1:]]),
            nest,
        )
