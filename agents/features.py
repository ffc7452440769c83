"""Features of one episode, as heads and probes read them, under draws of the weights."""

import tensorflow as tf

from agents.open_loop import DRAWS, encode, open_loop_latents
from agents.seeds import fold
from bayes_rl.weights import mean_weights, posteriors, sample_weights


def filtered_features(model, episode, seed):
    """Features of the filter, which each draw runs on its own with the same noise.

    Args:
        model: `agents.world_model.WorldModel`.
        episode: see `agents.episodes`.
        seed: [2].

    Returns:
        [S, T, F], float32 array; S is 1 where the weights are certain.
    """
    encoded = encode(model, [episode], seed)
    functions = [mean_weights(model)]
    if posteriors(model):
        draws = sample_weights(model, [DRAWS], fold(seed, 2))
        functions = [{name: w[s] for name, w in draws.items()} for s in range(DRAWS)]
    return tf.concat([encoded.latents(model, f).features for f in functions], 0).numpy()


def open_loop_features(model, episode, context, seed):
    """Features of `agents.open_loop.open_loop_latents`, [S, T, F] likewise."""
    draws = DRAWS if posteriors(model) else 0
    seen, imagined = open_loop_latents(model, episode, context, draws, seed)
    copies = tf.repeat(seen.features, max(draws, 1), axis=0)
    return tf.concat([copies, imagined.features], axis=1).numpy()
