"""Imagined rollouts, and how plans and weight draws are laid out to compute them.

Axes: B environments, N candidates, H steps, S weight draws, D latent_size.
"""

from typing import NamedTuple

import tensorflow as tf


class Rollout(NamedTuple):
    """The imagined outcome of plans; S is 1 where all draws share a value.

    Attributes:
        reward: [S, B, N, H], mean reward after each action, if it is taken.
        mean: [S, B, N, H, D], of the latent prior after each action.
        stddev: [S, B, N, H, D], likewise.
        reached: [S, B, N, H], the weight of each step: the probability that the episode has
            not ended before it, times the discount. See `Layout.counted`.
        value: [S, B, N], weighted value of the states after the actions; 0 if the score of
            a plan is the sum of its rewards.
        novelty: [S, B, N], weighted value of bonuses after the last action, in the unit of
            a bonus; 0 if no critic learns it.
        trace: [S, B, N, H], share of the return that looks beyond each step to its reward.
    """

    reward: tf.Tensor
    mean: tf.Tensor
    stddev: tf.Tensor
    reached: tf.Tensor | float = 1.0
    value: tf.Tensor | float = 0.0
    novelty: tf.Tensor | float = 0.0
    trace: tf.Tensor | float = 1.0

    def in_unit(self, reward):
        """The same with rewards and values in units of a reward, [].

        Example:
            >>> rollout = Rollout(tf.constant([6.0]), mean=None, stddev=None, value=4.0)
            >>> half = rollout.in_unit(2.0)
            >>> half.reward.numpy().tolist(), half.value
            ([3.0], 2.0)
        """
        return self._replace(reward=self.reward / reward, value=self.value / reward)


class Layout:
    """The arrangements of [B, N] plans and S draws as the rows of one product.

    Args:
        plans: [B, N, H, A].
        draws: S.
        value: the value of states after the horizon, or None. It has the `discount` of a
            decision, `return_lambda`, and `value` and `novelty` [...] of features [..., F].
    """

    def __init__(self, plans, draws, value=None):
        self.environments, self.candidates, self.horizon = plans.shape[:3]
        self.draws = draws
        self._value = value

    def flat(self, nest):
        """[B, N, ...] -> [B * N, ...]."""
        rows = self.environments * self.candidates
        return tf.nest.map_structure(lambda x: tf.reshape(x, [rows, *x.shape[2:]]), nest)

    def each_draw(self, nest):
        """[B, N, ...] -> [B * S, N, ...]."""
        return tf.nest.map_structure(lambda x: tf.repeat(x, self.draws, axis=0), nest)

    def each_group(self, nest, groups):
        """[B, N, ...] -> [B * groups, N / groups, ...], equal parts of the candidates."""
        axes = [self.environments * groups, self.candidates // groups]
        return tf.nest.map_structure(lambda x: tf.reshape(x, [*axes, *x.shape[2:]]), nest)

    def from_trajectory(self, tensor):
        """[H, B * N, X] -> [B * S, H * N, X]."""
        axes = [self.horizon, self.environments, self.candidates, tensor.shape[-1]]
        by_environment = tf.transpose(tf.reshape(tensor, axes), [1, 0, 2, 3])
        rows = [self.environments, self.horizon * self.candidates, tensor.shape[-1]]
        return tf.repeat(tf.reshape(by_environment, rows), self.draws, axis=0)

    def to_rollout(self, tensor, *event):
        """[H, B * N, *event] or [H, B * S, N, *event] -> [S, B, N, H, *event].

        With S = 1 also [H, B * groups, N / groups, *event], see `each_group`.
        """
        axes = [-1, self.environments, self.draws, self.candidates]
        tensor = tf.reshape(tensor, [*axes, *event])
        return tf.transpose(tensor, [2, 1, 3, 0, *range(4, 4 + len(event))])

    def steps_to_rollout(self, tensor):
        """[B * S, H * N, D] -> [S, B, N, H, D]."""
        axes = [self.environments, self.draws, self.horizon, self.candidates]
        tensor = tf.reshape(tensor, [*axes, tensor.shape[-1]])
        return tf.transpose(tensor, [1, 0, 3, 2, 4])

    def across_draws(self, function, nest):
        """Applies a function of [B, S, N, X] to each tensor [B * S, N, X] of a nest."""

        def apply(tensor):
            axes = [self.environments, self.draws, *tensor.shape[1:]]
            return tf.reshape(function(tf.reshape(tensor, axes)), tensor.shape)

        return tf.nest.map_structure(apply, nest)

    def rollout(self, model, latents) -> Rollout:
        """The rollout that `latents`, [H, rows, ...], are of."""
        size = latents.mean.shape[-1]
        return Rollout(
            self.to_rollout(model.reward(latents.features)),
            self.to_rollout(latents.mean, size),
            self.to_rollout(latents.stddev, size),
            *self.counted(model, latents),
        )

    def counted(self, model, latents):
        """The weighted parts of plans: `reached`, `value`, `novelty`, `trace` of `Rollout`.

            reached_k = product over j < k of discount continuation(state j)
            trace_k = lambda^(k - 1)
            value = sum over k of
                w_k reached_k discount continuation(state k) value(state k)
            w_k = (1 - lambda) trace_k before the last step, there trace_H
            novelty = product over all j of discount continuation(state j) novelty(state H)

        Action j leads to state j. So the step that ends the episode counts, with its
        reward, and later steps do not. The episode has not ended in the state in which the
        plan is made. Without a value there is no discount.

        With lambda = 1, the return of a plan is the sum of its rewards and the value after
        them. With a smaller lambda, it is an average over all depths. The first depths
        count most, because the model is most exact there. Source: Sutton and Barto, 2018,
        Reinforcement Learning, equation 12.3, the lambda return.
        """
        continuation = self.to_rollout(model.continuation(latents.features))
        if self._value is None:
            reached = tf.math.cumprod(continuation, axis=-1, exclusive=True)
            nothing = tf.zeros_like(reached[..., 0])
            return reached, nothing, nothing, tf.ones_like(reached)
        to_next = self._value.discount * continuation
        reached = tf.math.cumprod(to_next, axis=-1, exclusive=True)
        counted = reached * to_next
        trace, weights = lambda_weights(self.horizon, self._value.return_lambda)
        value = self.to_rollout(self._value.value(latents.features))
        value = tf.reduce_sum(weights * counted * value, axis=-1)
        novelty = self.to_rollout(self._value.novelty(latents.features[-1:]))[..., 0]
        return reached, value, counted[..., -1] * novelty, trace * tf.ones_like(reached)


def lambda_weights(horizon, return_lambda):
    """Weights of the rewards and of the values in a lambda return, both [H].

    Example:
        >>> [weights.numpy().tolist() for weights in lambda_weights(3, 0.5)]
        [[1.0, 0.5, 0.25], [0.5, 0.25, 0.25]]
    """
    trace = return_lambda ** tf.range(horizon, dtype=tf.float32)
    stops = tf.one_hot(horizon - 1, horizon, 1.0, 1.0 - return_lambda)
    return trace, trace * stops


def repeat_candidates(latent, count):
    """[B, ...] -> [B, N, ...]."""
    return tf.nest.map_structure(
        lambda x: tf.repeat(x[:, tf.newaxis], count, axis=1), latent
    )


def time_first(tensor):
    """[..., H, X] -> [H, ..., X]."""
    rank = tensor.shape.rank
    return tf.transpose(tensor, [rank - 2, *range(rank - 2), rank - 1])
