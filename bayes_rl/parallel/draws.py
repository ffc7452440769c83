"""Draws of weights that are split as the weights, and equal on every mesh.

Bits of an element are a hash of its place in the weight, of the weight's name and of the
seed. So a device computes the noise of its own part, and no other, and the numbers do not
depend on how a weight is split.

Source: Salmon et al., 2011, Parallel Random Numbers: As Easy as 1, 2, 3.
"""

import itertools
import math
import zlib

import tensorflow as tf
from tensorflow.experimental import dtensor

from bayes_rl.numerics.noise import as_seed, normal_of_bits, threefry
from bayes_rl.parallel.mesh import BATCH
from bayes_rl.random_variables.families import normal_parameters
from bayes_rl.weights import named_signs, named_weights, seed_labels


def sample_weights(model, seed, batch_size=None):
    """Draws every stochastic weight of a model, as `bayes_rl.sample_weights` does.

    Args:
        model: built Keras model, on a mesh or not; its posteriors are normal.
        seed: two ints or an integer tensor [2], or one int.
        batch_size: number of examples of all devices; Flipout layers then have signs for
            each example.

    Returns:
        Dict of full name -> draw, to be held: weights are split as their means, signs over
        `batch` and as the channels of their kernel.

    Raises:
        ValueError: a posterior is of another kind.

    Example:
        >>> import bayes_rl as ed
        >>> layer = ed.layers.DenseFlipout(4, name="dense")
        >>> layer.build([None, 3])
        >>> draws = sample_weights(layer, seed=1, batch_size=2)
        >>> [draws[name].shape.as_list() for name in sorted(draws)]
        [[3, 4], [2, 3], [2, 4]]
    """
    seed = tf.bitcast(tf.cast(as_seed(seed), tf.int32), tf.uint32)
    named, labels = named_weights(model), seed_labels(model)
    posteriors = {name: _normal(name, weight) for name, (_, weight) in named.items()}
    layouts = {name: _layout(weight) for name, (_, weight) in named.items()}
    places = {name: (weight.shape, layouts[name]) for name, (_, weight) in named.items()}
    draws = {
        name: mean + stddev * normal_of_bits(bits, mean.dtype)
        for (name, bits) in _random_bits(places, labels, seed).items()
        for mean, stddev in [posteriors[name]]
    }
    if batch_size is not None:
        draws |= _signs(model, layouts, batch_size, labels, seed)
    return draws


def _normal(name, weight):
    found = normal_parameters(weight.posterior())
    if found is None:
        raise ValueError(
            f"the posterior of {name!r} must be normal to be drawn in parts, got "
            f"{type(weight.initializer).__name__}"
        )
    return found


def _layout(weight):
    """How a weight lies on its mesh; None without a mesh."""
    return getattr(weight.initializer.mean, "layout", None)


def _signs(model, layouts, batch_size, labels, seed):
    places = {}
    for name, (_, _, size) in named_signs(model).items():
        kernel, end = name.rsplit("/", 1)
        layout = layouts[kernel]
        if layout is not None:
            channels = layout.sharding_specs[-2 if end == "sign_input" else -1]
            layout = dtensor.Layout([BATCH, channels], layout.mesh)
        places[name] = (batch_size, size), layout
    return {
        name: 1.0 - 2.0 * tf.cast(tf.bitwise.right_shift(bits, 31), tf.float32)
        for name, bits in _random_bits(places, labels, seed).items()
    }


def _random_bits(places, labels, seed):
    """Random bits by name, uint32; those of one shape and layout in one computation.

    `places` are (shape, layout or None), and `labels` what bits depend on beside the seed.
    """

    def kind(name):
        shape, layout = places[name]
        return str((tuple(shape), layout and layout.sharding_specs))

    found = {}
    for _, names in itertools.groupby(sorted(places, key=kind), key=kind):
        names = list(names)
        shape, layout = places[names[0]]
        hashes = [zlib.crc32(labels[name].encode()) for name in names]
        hashes = tf.reshape(tf.constant(hashes, tf.uint32), [-1] + [1] * len(shape))
        keys = tf.stack(threefry(hashes, tf.zeros_like(hashes), seed))
        bits, _ = threefry(*_counters(shape, layout), keys)
        found |= dict(zip(names, tf.unstack(bits, len(names)), strict=True))
    return found


def _counters(shape, layout):
    """Two words for each element, of shapes that broadcast to [1, *shape]."""
    words = [tf.zeros([1] * (len(shape) + 1), tf.uint32)] * 2
    for axis, size in enumerate(shape):
        index = tf.range(size) * (math.prod(shape[axis + 1 :]) if axis else 1)
        if layout is not None:
            spec = layout.sharding_specs[axis]
            index = dtensor.relayout(index, dtensor.Layout([spec], layout.mesh))
        index = tf.reshape(index, [size if axis == x else 1 for x in range(-1, len(shape))])
        words[min(axis, 1)] += tf.cast(index, tf.uint32)
    return words
