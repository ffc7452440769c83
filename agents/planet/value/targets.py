"""What critics learn, rewards of n steps and the value after them; running scales."""

from typing import NamedTuple

import numpy as np
import tensorflow as tf

_LEAST_SCALE = 0.05  # values closer than this are alike, whatever their spread
_SPREAD = (0.05, 0.95)  # quantiles of the values whose distance is their scale
_SCALE_RATE = 0.01


class Rows(NamedTuple):
    """The rows of sequences that an update of critics and policy learns from.

    A target has `steps` rewards, n. L = T - n rows have a target. An update learns from
    ceil(L / stride) of them. In every first sequence of two, these are

        (first + i * stride) mod L,  i = 0, 1 and so on

    and in every second one, the rows at the same distances from the last. The second kind
    is needed because a sequence ends where a time limit cut its episode. Rows that a stride
    leaves over at that end would otherwise never be learned. The `first` is a number or a
    tensor, [], below the stride.
    """

    steps: int
    stride: int = 1
    first: int | tf.Tensor = 0

    def after(self, tensor, count):
        """The rows `count` steps after these, [B, T, ...] -> [B, ceil(L / stride), ...]."""
        length = tensor.shape[1] - self.steps
        early = (self.first + np.arange(0, length, self.stride)) % length
        is_late = np.arange(tensor.shape[0])[:, np.newaxis] % 2 == 1
        rows = tf.where(is_late, length - 1 - early[::-1], early)
        return tf.gather(tensor, rows + count, axis=1, batch_dims=1)


def critic_loss(
    critics, policy, worth_later, batch, features, rewards, noise, discount, rows
):
    """The squared errors of critics, summed over both, the mean over steps: [B].

    The n-step target is what `worth_later` says of features and of actions that the policy
    draws by `noise`, [B, T, A]; no gradient reaches it. The rewards, the discount and the
    `Rows` are as in `n_step_targets`.
    """
    here, later = rows.after(features, 0), rows.after(features, rows.steps)
    worth, _ = policy.expect(worth_later, later, rows.after(noise, rows.steps))
    target, weight = n_step_targets(batch, rewards, worth, discount, rows)
    values = critics(here, rows.after(batch["action"], 1))
    errors = tf.reduce_sum((values - tf.stop_gradient(target)) ** 2, 0)
    return tf.reduce_mean(weight * errors, 1)


def n_step_targets(batch, rewards, values, discount, rows):
    """Targets of the value of some steps' states and the actions taken there.

        y_t = sum over k < n of discount^k g_k r[t+k+1] + discount^n g_n V[t+n]

    g_k is 1, and 0 once the episode has ended before. Row t of a batch holds the reward
    that led to it, so the first reward of the sum stands in row t + 1. A step from which
    the n rows after it run into another episode, unless this one ended, has weight 0.

    Source: Sutton and Barto, 2018, Reinforcement Learning, equation 7.1.

    Targets and weights have the shape of V, the values of the states n steps after those of
    the `Rows` t, [B, L]. So have the n rewards, r[t+k+1] of k = 0, 1 and so on.
    """

    def ahead(name, count):
        return tf.cast(rows.after(batch[name], count), tf.float32)

    going = weight = tf.ones_like(values)
    target = tf.zeros_like(values)
    for count, reward in enumerate(rewards, 1):
        weight *= 1.0 - going * ahead("is_first", count)
        target += discount ** (count - 1) * going * reward
        going *= 1.0 - ahead("is_terminal", count)
    return target + discount**rows.steps * going * values, weight


def worth_over_draws(worths, pessimism):
    """The value of an action by several draws of the model, [...] of [K, ...].

        mean over k of w_k - pessimism * stddev over k of w_k
        w_k = r_k + discount c_k V(x_k)

    Draw k predicts the next state x_k. The central weights predict the reward r_k and the
    continuation c_k of that state; draws of a reward head are not used here. The value is
    lowered where the draws disagree: there, the data do not show what follows the action.

    Source: Yu et al., 2020, MOPO: Model-based Offline Policy Optimization, equation 8, with
    the stddev of the worth over draws as the error of the model.

    Example:
        >>> float(worth_over_draws(tf.constant([1.0, 3.0]), pessimism=0.5))
        1.5
    """
    mean, variance = tf.nn.moments(worths, axes=[0])
    return mean - pessimism * tf.sqrt(variance)


def move(scale, size):
    """Moves a scale on by one hundredth towards what a gradient step has seen."""
    return scale + _SCALE_RATE * (size - scale)


def follow_spread(scale, values):
    """Moves a scale on towards the spread of values, which it returns."""
    found = spread(values)
    scale.assign(tf.maximum(move(scale, found), _LEAST_SCALE))
    return found


def spread(values):
    """The distance of two quantiles, [].

    Example:
        >>> float(spread(tf.range(21.0)))
        18.0
    """
    ordered = tf.sort(tf.reshape(values, [-1]))
    last = ordered.shape[0] - 1
    low, high = (ordered[round(share * last)] for share in _SPREAD)
    return high - low
