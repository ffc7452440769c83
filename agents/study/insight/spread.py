"""How far the weight draws of a model disagree, beside the noise that each expects."""

import tensorflow as tf

from agents.episodes.layout import seen_keys
from agents.planet.planning.imagination import expect_next
from agents.study.insight.latents import filter_latents, traced_once
from agents.system.seeds import fold, normal
from bayes_rl.layers.products import sizes
from bayes_rl.weights import posteriors

SPREAD_DRAWS = 10  # fewer than a figure shows: this is measured after each episode


def spread_report(model, episode, seed):
    """Epistemic and aleatoric spread of one-step predictions along an episode.

        epistemic = sqrt(mean over t, d of variance over k of mean_ktd)
        aleatoric = sqrt(mean over t, d, k of stddev_ktd^2)

    where draw k of the weights predicts the latent at t + 1 from the latent of the filter
    at t. Where their ratio is far below 1, all draws act alike and strategies that explore
    by them do what greedy does.

    Source: Depeweg et al., 2018, Decomposition of Uncertainty in Bayesian Deep Learning.

    Args:
        model: `agents.planet.model.world_model.WorldModel`.
        episode: see `agents.episodes.layout`.
        seed: [2].

    Returns:
        Dict of `epistemic_stddev`, `aleatoric_stddev` and `epistemic_ratio`; empty for a
        model whose weights are certain.
    """
    if not posteriors(model):
        return {}
    expected = predict_each_step(model, as_batch(episode), seed)
    epistemic = tf.sqrt(tf.reduce_mean(tf.math.reduce_variance(expected.mean, 0)))
    aleatoric = tf.sqrt(tf.reduce_mean(tf.square(expected.stddev)))
    return {
        "epistemic_stddev": float(epistemic),
        "aleatoric_stddev": float(aleatoric),
        "epistemic_ratio": float(epistemic / aleatoric),
    }


def as_batch(episode):
    """The episode as `predict_each_step` takes it."""
    keys = (*seen_keys(episode), "action", "is_first")
    return {key: tf.constant(episode[key])[tf.newaxis] for key in keys}


@traced_once(batch=1)
def predict_each_step(model, batch, seed):
    """What each draw expects of the next latent, from the filter's latents.

    The batch has observation [B, T, ...] and images beside it, action [B, T, A] and
    is_first [B, T]. The next `Latent` is [S, B, T - 1, ...]; its `sample` is its mean.
    """
    noise = normal([*sizes(batch["is_first"]), model.rssm.latent_size], fold(seed, 0))
    embedding = model.embed(batch, fold(seed, 1))
    known = (batch["action"], batch["is_first"], noise)
    latent = filter_latents(model, embedding, *known, model.central_weights())
    before = latent.features[:, :-1]
    weights = model.draw_weights(SPREAD_DRAWS, fold(seed, 2))
    return expect_next(model, before, batch["action"][:, 1:], weights, SPREAD_DRAWS)
