"""What draws of the weights say of steps that were taken, not imagined."""

import tensorflow as tf

from agents.model.latents import Latent
from agents.planning.rollouts import Rollout
from bayes_rl.weights import hold


def predict_replayed(model, features, action, weights, draws):
    """What each draw expects after each step, from the same latent and action.

    Args:
        model: `agents.model.world_model.WorldModel`.
        features: [B, L, F], of the filter.
        action: [B, L, A], taken there.
        weights: of the draws, [S, ...].
        draws: S.

    Returns:
        `Rollout` of one plan for each sequence whose H steps are these, [S, B, 1, L, ...],
        without rewards.
    """
    rssm, steps = model.rssm, [draws, *action.shape[:2]]
    sample, belief = tf.split(features, [rssm.latent_size, rssm.belief_size], -1)

    def for_each_draw(tensor):
        flat = tf.reshape(tensor, [1, -1, tensor.shape[-1]])
        return tf.repeat(flat, draws, axis=0)

    sample, belief, action = map(for_each_draw, (sample, belief, action))
    with hold(model, weights):
        after = rssm.imagine_step(Latent(belief, sample, sample, sample), action, 0.0)
    mean, stddev = (
        tf.reshape(x, [*steps, rssm.latent_size])[:, :, tf.newaxis]
        for x in (after.mean, after.stddev)
    )
    return Rollout(tf.zeros([1, *mean.shape[1:4]]), mean, stddev)
