"""What draws of the weights say of steps that were taken, not imagined."""

import tensorflow as tf

from agents.planet.model.latents import Latent
from agents.planet.planning.rollouts import Rollout
from bayes_rl.layers.products import sizes
from bayes_rl.weights import hold


def predict_replayed(model, features, action, weights, draws):
    """What each draw expects after each step, from the same latent and action.

    Args:
        model: `agents.planet.model.world_model.WorldModel`.
        features: [B, L, F], of the filter.
        action: [B, L, A], taken there.
        weights: of the draws, [S, ...].
        draws: S.

    Returns:
        `Rollout` of one plan for each sequence whose H steps are these, [S, B, 1, L, ...],
        without rewards.
    """
    rssm = model.rssm
    sample, belief = tf.split(features, [rssm.latent_size, rssm.belief_size], -1)
    latent = Latent(belief, sample, sample, sample)
    after = expect_next(model, latent, action, weights, draws)
    mean, stddev = (x[:, :, tf.newaxis] for x in (after.mean, after.stddev))
    return Rollout(tf.zeros([1, *mean.shape[1:4]]), mean, stddev)


def expect_next(model, latent, action, weights, draws):
    """What each draw expects after each step, from the same latent and action.

    Args:
        model: `agents.planet.model.world_model.WorldModel`.
        latent: `Latent`, [B, L, ...].
        action: [B, L, A], taken there.
        weights: of the draws, [S, ...].
        draws: S.

    Returns:
        `Latent`, the next one, [S, B, L, ...]; its `sample` is its mean.
    """
    batch = sizes(action)[:2]

    def for_each_draw(tensor):
        flat = tf.reshape(tensor, [1, -1, tensor.shape[-1]])
        return tf.repeat(flat, draws, axis=0)

    latent, action = tf.nest.map_structure(for_each_draw, (latent, action))
    with hold(model, weights):
        after = model.rssm.imagine_step(latent, action, noise=0.0)
    return tf.nest.map_structure(
        lambda x: tf.reshape(x, [draws, *batch, x.shape[-1]]), after
    )
