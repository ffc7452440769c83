"""Latent overshooting: the prior several steps ahead is trained to match the posterior."""

import tensorflow as tf
from tensorflow_probability import distributions as tfd

from agents.planet.model.rssm import (
    above_free_nats,
    by_draw,
    from_front,
    gaussian,
    in_order,
    to_front,
)


def overshooting_losses(model, batch, posterior, noise, settings, draws=0):
    """The losses of priors unrolled from every posterior, averaged over distances.

        KL(stop_gradient(posterior[t + d]) || prior[t + d | t])   and
        -log N(r[t + d] / reward_unit | reward(features[t + d | t]), 1),  d = 1 ... distance

    with the same free nats as the one-step loss. Steps past the end of the sequence or of
    its episode count as zero. The cost grows with length times distance.

    Source: Hafner et al., 2019, section 4, equation 7, and the first release's scales.

    Args:
        model: `agents.planet.model.world_model.WorldModel`.
        batch: action [B, T, A], reward [B, T], is_first [B, T].
        posterior: `Latent` [B, T, ...].
        noise: [B, T, D], standard normal; a step's noise is the same at all distances.
        settings: `agents.runs.config.schema.WorldModel`.
        draws: as in `RSSM.observe`.

    Returns:
        Dict of losses [B, T], at the step from which the prior was unrolled.
    """
    length, distance = batch["reward"].shape[1], settings.overshooting_distance
    ahead = tf.range(length)[:, tf.newaxis] + tf.range(1, distance + 1)  # [T, distance]
    inside = ahead < length

    def window(tensor):
        """[B, T, ...] -> [B, T, distance, ...], the steps ahead of each step."""
        return tf.gather(tensor, tf.minimum(ahead, length - 1), axis=1)

    same_episode = tf.math.cumprod(tf.cast(~window(batch["is_first"]), tf.float32), axis=2)
    weight = same_episode * tf.cast(inside, tf.float32) / distance
    starts = (posterior, window(batch["action"]), window(noise))
    prior = in_order(_unroll(model.rssm, *by_draw(starts, draws)), draws)
    target = tf.nest.map_structure(lambda x: window(tf.stop_gradient(x)), posterior)
    kl = tfd.kl_divergence(gaussian(target), gaussian(prior))
    reward = model.reward_log_prob(prior.features, window(batch["reward"]))
    kl = settings.overshooting_kl_scale * above_free_nats(kl, settings.free_nats)
    return {
        "overshooting_latent_loss": tf.reduce_sum(weight * kl, axis=2),
        "overshooting_reward_loss": tf.reduce_sum(
            -settings.overshooting_reward_scale * weight * reward, axis=2
        ),
    }


def _unroll(rssm, posterior, actions, noise):
    """`Latent` [..., T, distance, X] from posteriors [..., T, X] and actions ahead."""
    distances = actions.shape.rank - 2
    ahead = (to_front(tensor, distances) for tensor in (actions, noise))
    latents = rssm.imagine(posterior, *ahead)
    return tf.nest.map_structure(lambda x: from_front(x, distances), latents)
