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
    length = len(episode["reward"])
    noise = normal([1, length, model.rssm.latent_size], fold(seed, 0))
    observation = model.preprocess(
        episode["observation"][tf.newaxis, :context], fold(seed, 1)
    )
    action = tf.constant(episode["action"])[tf.newaxis]
    with hold(model, mean_weights(model)):
        seen, _ = model.rssm.observe(
            model.encode(observation),
            action[:, :context],
            tf.constant(episode["is_first"][tf.newaxis, :context]),
            noise[:, :context],
        )
    copies = max(draws, 1)
    weights = (
        sample_weights(model, [draws], fold(seed, 2)) if draws else mean_weights(model)
    )
    start = Latent(*(_copy(state[:, -1], copies) for state in seen))
    steps = [
        _copy(tf.transpose(x[:, context:], [1, 0, 2]), copies, 1) for x in (action, noise)
    ]
    with hold(model, weights):
        imagined = model.rssm.imagine(start, *steps)
    reconstruction = _copy(model.decode(seen.features)[0], copies)
    prediction = model.decode(imagined.features)[:, :, 0]  # [T - context, S, ...]
    prediction = tf.transpose(prediction, [1, 0, *range(2, prediction.shape.rank)])
    return tf.concat([reconstruction, prediction], axis=1)


def _copy(tensor, copies, axis=0):
    """A new axis with `copies` of the tensor."""
    return tf.repeat(tf.expand_dims(tensor, axis), copies, axis=axis)
