"""Latents of whole episodes: filtered, and open loop after a few observations."""

import functools
import inspect
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from agents.episodes.layout import seen_in
from agents.planet.model.rssm import Latent
from agents.system.seeds import fold, normal
from bayes_rl.weights import hold, posteriors

CONTEXT = 5  # rows that the model sees
PREDICTED = 50  # rows that it imagines
DRAWS = 20  # weight draws whose spread is shown


def traced_once(**time_axes):
    """Makes a function a `tf.function` that leaves the lengths of some axes open.

    A trace for each length of an episode takes seconds, and TensorFlow keeps every one. Of
    each argument with an axis of time, a tensor or a nest of them, the axis is given.

    Example:
        >>> @traced_once(rows=0)
        ... def total(rows):
        ...     return tf.reduce_sum(rows)
        >>> float(total(tf.ones([2]))), float(total(tf.ones([3])))
        (2.0, 3.0)
        >>> total.graph.experimental_get_tracing_count()
        1
    """

    def decorate(function):
        graph = tf.function(function, autograph=False)
        signature = inspect.signature(function)

        @functools.wraps(function)
        def call(*args, **kwargs):
            given = signature.bind(*args, **kwargs).arguments
            tensors, specs = {}, {}
            for name, axis in time_axes.items():
                tensors[name] = tf.nest.map_structure(tf.convert_to_tensor, given[name])
                leave_open = functools.partial(_leave_open, axis)
                specs[name] = tf.nest.map_structure(leave_open, tensors[name])
            concrete = graph.get_concrete_function(**(given | specs))
            return concrete(**(given | tensors))

        call.graph = graph
        return call

    return decorate


def _leave_open(axis, tensor):
    shape = tensor.shape.as_list()
    shape[axis] = None
    return tf.TensorSpec(shape, tensor.dtype)


def predict_open_loop(model, episode, context, draws, seed, part=None):
    """Filters the first rows of an episode and imagines the others.

    The filter uses the central weights. The draws share the noise of the latents, so what
    they disagree on is due to the weights.

    Args:
        model: `agents.planet.model.world_model.WorldModel`.
        episode: observation [T, ...], action [T, A], reward and is_first [T], see
            `agents.episodes.layout`.
        context: rows that the model sees, at least 1 and below T.
        draws: S, weight draws to imagine with; 0 is one prediction with the
            central weights.
        seed: [2], of draws and noise.
        part: what is predicted, `agents.planet.model.observed.Observed`; None: the
            observation.

    Returns:
        [max(S, 1), T, ...], means of the observations, in the units of
        `Observed.observed`: reconstructions in the context, predictions after it.
    """
    expected = part.expected if part else model.expected_observation
    seen, imagined = open_loop_latents(model, episode, context, draws, seed)
    copies = max(draws, 1)
    reconstruction = tf.repeat(expected(seen.features), copies, axis=0)
    predicted = expected(imagined.features)
    return tf.concat([reconstruction, predicted], axis=1)


def open_loop_latents(model, episode, context, draws, seed):
    """The latents of `predict_open_loop`, which see.

    Those of the filter are [1, context, ...], the imagined [max(S, 1), T - context, ...].
    """
    length = len(episode["reward"])
    noise = normal([1, length, model.rssm.latent_size], fold(seed, 0))
    early = {key: rows[tf.newaxis, :context] for key, rows in seen_in(episode).items()}
    action = tf.constant(episode["action"])
    seen = filter_latents(
        model,
        model.embed(early, fold(seed, 1)),
        action[tf.newaxis, :context],
        tf.constant(episode["is_first"][tf.newaxis, :context]),
        noise[:, :context],
        model.central_weights(),
    )
    copies = max(draws, 1)
    seed = fold(seed, 2)
    weights = model.draw_weights(draws, seed) if draws else model.central_weights()
    later = tf.repeat(noise[0, context:, tf.newaxis, tf.newaxis], copies, axis=1)
    start = Latent(*(tf.repeat(state[tf.newaxis, :, -1], copies, axis=0) for state in seen))
    imagined = imagine_latents(model, start, action[context:, tf.newaxis], later, weights)
    return seen, Latent(*(tf.transpose(state[:, :, 0], [1, 0, 2]) for state in imagined))


class Encoded(NamedTuple):
    """Episodes as the filter gets them, padded to the longest."""

    lengths: list  # rows of each episode, B ints
    embedding: tf.Tensor  # [B, T, E]
    action: tf.Tensor  # [B, T, A]
    is_first: tf.Tensor  # [B, T]
    noise: tf.Tensor  # [B, T, D], of the latents

    def latents(self, model, weights):
        """`Latent` of the filter under a function of the model, [B, T, ...]."""
        known = self.embedding, self.action, self.is_first, self.noise
        return filter_latents(model, *known, weights)

    def cut(self, tensor):
        """[B, T, ...] -> a list of arrays [T, ...], each as long as its episode."""
        return [x[:n] for x, n in zip(tensor.numpy(), self.lengths, strict=True)]


def encode(model, episodes, seed):
    """`Encoded` episodes, one after another: pictures of all are too many at once."""
    embedding = [
        {"embedding": model.embed(e, fold(seed, n))} for n, e in enumerate(episodes)
    ]
    action = stack(episodes, "action")
    shape = [*action.shape[:2], model.rssm.latent_size]
    return Encoded(
        [len(episode["reward"]) for episode in episodes],
        stack(embedding, "embedding"),
        action,
        stack(episodes, "is_first"),
        normal(shape, fold(seed, len(episodes))),
    )


def stack(episodes, key):
    """One tensor of all episodes, [B, T, ...]; shorter ones end with zeros."""
    rows = [np.asarray(episode[key]) for episode in episodes]
    padded = tf.keras.utils.pad_sequences(rows, dtype=rows[0].dtype, padding="post")
    return tf.constant(padded)


@traced_once(embedding=1, action=1, is_first=1, noise=1)
def filter_latents(model, embedding, action, is_first, noise, weights):
    """`Latent` of the posterior, [B, T, ...], under one function, see `RSSM.observe`.

    Of a batch of sequences embedding is [B, T, E], action [B, T, A], is_first [B, T] and
    noise, standard normal, [B, T, D]. Weights of one draw or the central ones are held.
    """
    with hold(model, weights):
        posterior, _ = model.rssm.observe(embedding, action, is_first, noise)
    return posterior


@traced_once(action=0, noise=0)
def imagine_latents(model, start, action, noise, weights):
    """`Latent` [H, S, N, ...]: rolls the prior forward from latents of S functions.

    It starts from [S, N, ...]. Action [H, N, A] is the same for all functions; noise,
    standard normal, is [H, S, N, D]; weights are of S draws, or, of one, the central ones.
    """
    action = tf.repeat(action[:, tf.newaxis], noise.shape[1], axis=1)
    with hold(model, weights):
        return model.rssm.imagine(start, action, noise)


def filtered_features(model, episode, seed):
    """Features of the filter, which each draw runs on its own with the same noise.

    They are a float32 array, [S, T, F]; S is 1 where the weights are certain.
    """
    encoded = encode(model, [episode], seed)
    functions = [model.central_weights()]
    if posteriors(model):
        draws = model.draw_weights(DRAWS, fold(seed, 2))
        functions = [{name: w[s] for name, w in draws.items()} for s in range(DRAWS)]
    return tf.concat([encoded.latents(model, f).features for f in functions], 0).numpy()


def open_loop_features(model, episode, context, seed):
    """Features of `open_loop_latents`, [S, T, F] likewise."""
    draws = DRAWS if posteriors(model) else 0
    seen, imagined = open_loop_latents(model, episode, context, draws, seed)
    copies = tf.repeat(seen.features, max(draws, 1), axis=0)
    return tf.concat([copies, imagined.features], axis=1).numpy()
