"""What the world model imagines for candidate plans, under one or many weight draws.

Axes: B environments, N candidates, H steps, S weight draws, D latent_size.
"""

from typing import NamedTuple

import tensorflow as tf

from agents.latents import Latent
from bayes_rl.weights import hold, mean_weights


class Rollout(NamedTuple):
    """The imagined outcome of plans; S is 1 where all draws share a value.

    Attributes:
        reward: [S, B, N, H], mean reward after each action.
        mean: [S, B, N, H, D], of the latent prior after each action.
        stddev: [S, B, N, H, D], likewise.
    """

    reward: tf.Tensor
    mean: tf.Tensor
    stddev: tf.Tensor


def imagine_with_mean_weights(model, latent, plans, noise) -> Rollout:
    """Each plan rolled out once, under the posterior means of the weights.

    Args:
        model: `agents.world_model.WorldModel`.
        latent: `Latent` [B, ...], where the plans start.
        plans: [B, N, H, A].
        noise: [B, N, H, D], standard normal.

    Returns:
        `Rollout` with S = 1.
    """
    shape = _Shape(plans, draws=1)
    with hold(model, mean_weights(model)):
        latents = _roll(model, shape.flat, latent, plans, noise)
    return _rollout(model, shape, latents)


def imagine_with_draws(model, latent, plans, noise, draws) -> Rollout:
    """Each plan rolled out under every draw; a draw is held for the whole rollout.

    Args:
        model: `agents.world_model.WorldModel`.
        latent: `Latent` [B, ...], where the plans start.
        plans: [B, N, H, A].
        noise: [B, N, H, D], standard normal, shared by all draws, so that they differ by
            their weights alone.
        draws: weights with a leading axis of B * S: S for each environment in turn.

    Returns:
        `Rollout`.
    """
    shape = _Shape(plans, _draws_per_environment(draws, plans))
    with hold(model, draws):
        latents = _roll(model, shape.each_draw, latent, plans, noise)
    return _rollout(model, shape, latents)


def imagine_draws_on_shared_trajectory(model, latent, plans, noise, draws) -> Rollout:
    """Every draw predicts each next latent from the trajectory of the mean weights.

    So the draws are compared at the same latent and action, and their disagreement holds no
    noise of the latents (Sekar et al., 2020, Planning to Explore, section 3.1).

    Arguments as in `imagine_with_draws`; `reward` is that of the trajectory, with S = 1.
    """
    single = _Shape(plans, draws=1)
    with hold(model, mean_weights(model)):
        latents = _roll(model, single.flat, latent, plans, noise)
    start = single.flat(_repeat_candidates(latent, plans))
    before = tf.nest.map_structure(
        lambda first, later: tf.concat([first[tf.newaxis], later[:-1]], 0), start, latents
    )
    steps = _Shape(plans, _draws_per_environment(draws, plans))
    before = tf.nest.map_structure(steps.from_trajectory, before)
    actions = steps.from_trajectory(_time_first(single.flat(plans)))
    with hold(model, draws):
        after = model.rssm.imagine_step(before, actions, noise=0.0)
    reward = single.to_rollout(model.reward(latents.features))
    return Rollout(reward, *map(steps.steps_to_rollout, (after.mean, after.stddev)))


class _Shape:
    """The arrangements of [B, N] plans and S draws as the rows of one product."""

    def __init__(self, plans, draws):
        self.environments, self.candidates, self.horizon = plans.shape[:3]
        self.draws = draws

    def flat(self, nest):
        """[B, N, ...] -> [B * N, ...]."""
        rows = self.environments * self.candidates
        return tf.nest.map_structure(lambda x: tf.reshape(x, [rows, *x.shape[2:]]), nest)

    def each_draw(self, nest):
        """[B, N, ...] -> [B * S, N, ...]."""
        return tf.nest.map_structure(lambda x: tf.repeat(x, self.draws, axis=0), nest)

    def from_trajectory(self, tensor):
        """[H, B * N, X] -> [B * S, H * N, X]."""
        axes = [self.horizon, self.environments, self.candidates, tensor.shape[-1]]
        by_environment = tf.transpose(tf.reshape(tensor, axes), [1, 0, 2, 3])
        rows = [self.environments, self.horizon * self.candidates, tensor.shape[-1]]
        return tf.repeat(tf.reshape(by_environment, rows), self.draws, axis=0)

    def to_rollout(self, tensor, *event):
        """[H, B * N, *event] or [H, B * S, N, *event] -> [S, B, N, H, *event]."""
        axes = [self.horizon, self.environments, self.draws, self.candidates]
        tensor = tf.reshape(tensor, [*axes, *event])
        return tf.transpose(tensor, [2, 1, 3, 0, *range(4, 4 + len(event))])

    def steps_to_rollout(self, tensor):
        """[B * S, H * N, D] -> [S, B, N, H, D]."""
        axes = [self.environments, self.draws, self.horizon, self.candidates]
        tensor = tf.reshape(tensor, [*axes, tensor.shape[-1]])
        return tf.transpose(tensor, [1, 0, 3, 2, 4])


def _roll(model, arrange, latent, plans, noise) -> Latent:
    """Latents [H, rows, ...] after each action, the rows as `arrange` lays them."""
    start = arrange(_repeat_candidates(latent, plans))
    return model.rssm.imagine(
        start, _time_first(arrange(plans)), _time_first(arrange(noise))
    )


def _rollout(model, shape, latents):
    size = latents.mean.shape[-1]
    return Rollout(
        shape.to_rollout(model.reward(latents.features)),
        shape.to_rollout(latents.mean, size),
        shape.to_rollout(latents.stddev, size),
    )


def _repeat_candidates(latent, plans):
    """[B, ...] -> [B, N, ...]."""
    return tf.nest.map_structure(
        lambda x: tf.repeat(x[:, tf.newaxis], plans.shape[1], axis=1), latent
    )


def _time_first(tensor):
    """[..., H, X] -> [H, ..., X]."""
    rank = tensor.shape.rank
    return tf.transpose(tensor, [rank - 2, *range(rank - 2), rank - 1])


def _draws_per_environment(draws, plans):
    return next(iter(draws.values())).shape[0] // plans.shape[0]
