"""What the model expects when it sees a few observations and then only actions."""

import tensorflow as tf

from agents.latents import Latent
from agents.seeds import fold, normal
from bayes_rl.weights import hold, mean_weights, sample_weights


def predict_open_loop(model, episode, context, draws, seed):
    """Filters the first rows of an episode and imagines the others.

    The filter uses the mean weights. The draws share the noise of the latents, so what
    they disagree on is due to the weights.

    Args:
        model: `agents.world_model.WorldModel`.
        episode: observation [T, ...], action [T, A], reward and is_first [T], see
            `agents.episodes`.
        context: rows that the model sees, at least 1 and below T.
        draws: S, weight draws to imagine with; 0 is one prediction with the mean weights.
        seed: [2], of draws and noise.

    Returns:
        [max(S, 1), T, ...], decoded means of the preprocessed observations:
        reconstructions in the context, predictions after it.
    """
    seen, imagined = open_loop_latents(model, episode, context, draws, seed)
    copies = max(draws, 1)
    reconstruction = tf.repeat(model.decode(seen.features), copies, axis=0)
    return tf.concat([reconstruction, model.decode(imagined.features)], axis=1)


def open_loop_latents(model, episode, context, draws, seed):
    """The latents of `predict_open_loop`, which see.

    Returns:
        `Latent` of the filter, [1, context, ...], and of the imagined rows,
        [max(S, 1), T - context, ...].
    """
    length = len(episode["reward"])
    noise = normal([1, length, model.rssm.latent_size], fold(seed, 0))
    observation = model.preprocess(
        episode["observation"][tf.newaxis, :context], fold(seed, 1)
    )
    action = tf.constant(episode["action"])
    seen = filter_latents(
        model,
        model.encode(observation),
        action[tf.newaxis, :context],
        tf.constant(episode["is_first"][tf.newaxis, :context]),
        noise[:, :context],
        mean_weights(model),
    )
    copies = max(draws, 1)
    weights = (
        sample_weights(model, [draws], fold(seed, 2)) if draws else mean_weights(model)
    )
    later = tf.repeat(noise[0, context:, tf.newaxis, tf.newaxis], copies, axis=1)
    start = Latent(*(state[:, -1] for state in seen))
    imagined = imagine_latents(model, start, action[context:, tf.newaxis], later, weights)
    return seen, Latent(*(tf.transpose(state[:, :, 0], [1, 0, 2]) for state in imagined))


@tf.function
def filter_latents(model, embedding, action, is_first, noise, weights):
    """Latents of a batch of sequences under one function; see `agents.rssm.RSSM.observe`.

    Args:
        model: `agents.world_model.WorldModel`.
        embedding: [B, T, E].
        action: [B, T, A].
        is_first: [B, T] bool.
        noise: [B, T, D], standard normal.
        weights: of one draw or their means, to be held.

    Returns:
        `Latent` of the posterior, [B, T, ...].
    """
    with hold(model, weights):
        posterior, _ = model.rssm.observe(embedding, action, is_first, noise)
    return posterior


@tf.function
def imagine_latents(model, start, action, noise, weights):
    """Rolls the prior forward from the same latents under S functions.

    Args:
        model: `agents.world_model.WorldModel`.
        start: `Latent` [N, ...].
        action: [H, N, A].
        noise: [H, S, N, D], standard normal.
        weights: of S draws, or with S = 1 their means, to be held.

    Returns:
        `Latent`, [H, S, N, ...].
    """
    draws = noise.shape[1]
    start = Latent(*(tf.repeat(state[tf.newaxis], draws, axis=0) for state in start))
    with hold(model, weights):
        return model.rssm.imagine(
            start, tf.repeat(action[:, tf.newaxis], draws, axis=1), noise
        )
