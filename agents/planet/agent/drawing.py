"""The random numbers of a gradient step, the same on any number of devices."""

from typing import NamedTuple

import tensorflow as tf

from agents.system import replicas
from agents.system.seeds import fold, normal, split


class Drawn(NamedTuple):
    """What a gradient step draws that XLA would draw otherwise, and seeds of the rest.

    Attributes:
        latents: standard normal numbers [B, T, latent size], of this replica's rows.
        weight_seed: [2], of the draws of weights.
        image_seed: [2], of the noise that dequantizes images.
        actions: standard normal numbers [2, B, T, A], of what a value's policy does; with
            an explorer [4, B, T, A].
        replica: the number of this replica, [].
    """

    latents: tf.Tensor
    weight_seed: tf.Tensor
    image_seed: tf.Tensor
    actions: tf.Tensor
    replica: tf.Tensor


def draw(seed, model, shape, explores=False) -> Drawn:
    """Draws for the replica that calls it.

    Args:
        seed: [2], of the step.
        model: `agents.planet.model.world_model.WorldModel`.
        shape: B and T, of this replica's sequences.
        explores: whether an explorer learns beside the value.
    """
    of_latents, weight_seed, image_seed = tf.unstack(split(seed, 3))
    pairs = [
        _own_rows(shape, 2 * model.action_size, fold(seed, number))
        for number in range(1 + explores)
    ]
    return Drawn(
        _own_rows(shape, model.rssm.latent_size, of_latents),
        weight_seed,
        image_seed,
        tf.concat([tf.stack(tf.split(pair, 2, axis=-1)) for pair in pairs], 0),
        replicas.number(),
    )


def _own_rows(shape, size, seed):
    """This replica's rows of the numbers [B * replicas, T, size] of all."""
    rows, length = shape
    noise = normal([rows * replicas.count(), length, size], seed)
    return replicas.own_rows(noise, rows, replicas.number())
