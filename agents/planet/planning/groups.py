"""A planner for candidates that must not be mixed, such as those of different draws."""

import dataclasses

import tensorflow as tf

from agents.planet.planning.planner import Planner
from agents.system.seeds import split


@dataclasses.dataclass(frozen=True)
class PlannerOfGroups:
    """A planner for each group of candidates; the best of their plans is the plan.

    A group has its own mean, stddev and elites in every iteration, and its own state from
    one decision to the next. So a score that tells groups apart judges all that becomes of
    a candidate alike. In the end it judges the plan of each group.

    Args:
        planner: that the groups share; each gets an S-th of its candidates and elites.
        groups: S, at least 1.

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
        """As in `Planner`."""
        return self.planner.common_noise

    @property
    def horizon(self) -> int:
        """As in `Planner`."""
        return self.planner.horizon

    @property
    def evaluations(self) -> int:
        """Plans scored for one decision."""
        return self.groups * (self._member.evaluations + 1)

    @property
    def _member(self):
        return self.planner.share(self.groups)

    def initial_state(self, batch_size, action_size):
        """That of each group, [B, S, ...]."""
        rows = batch_size * self.groups
        return self._by_group(self._member.initial_state(rows, action_size))

    def plan(self, score, state, shape, seed, proposals=None):
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
            score_rows, state, (rows, action_size), seeds[0], proposals
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
