"""What can be asked of all weights of a model: draws, means, posteriors, costs.

Draws are stateless: the same seed gives the same draw in eager mode, in a `tf.function`,
under XLA, in any replica, and whichever other layers the model has.
"""

import zlib

import numpy as np
import tensorflow as tf

from bayes_rl.numerics.noise import as_seed, rademacher
from bayes_rl.random_variables.families import draw_from, mean_of
from bayes_rl.weights.naming import named_signs, named_weights


def seed_of(name, seed):
    """The seed of one named draw: it depends on nothing but `seed` and the name."""
    label = tf.constant(zlib.crc32(name.encode()) & 0x7FFFFFFF, tf.int32)
    return tf.random.experimental.stateless_fold_in(seed, label, alg="philox")


@tf.autograph.experimental.do_not_convert
def sample_weights(model, sample_shape=(), seed=None, batch_size=None):
    """Draws every stochastic weight of a model from its posterior.

    Args:
        model: built Keras model or layer, any `tf.Module` that holds such, or a list.
        sample_shape: () for one draw, [S] for S draws.
        seed: two ints or an integer tensor [2], or one int; None for a new draw at every
            call.
        batch_size: number of examples; Flipout layers then add
            `<layer>/kernel/sign_input` [*sample_shape, batch_size, inputs] and
            `<layer>/kernel/sign_output` [*sample_shape, batch_size, units], so that each
            example keeps its own draw for as long as they are held.

    Returns:
        Dict of full name, `<layer>/<weight>` or the end of its path that is clear, such as
        `encoder/hidden/kernel`, -> [*sample_shape, *shape of the weight]; gradients flow to
        the parameters of the posteriors.

    Raises:
        ValueError: two weights have the same name; the model is not built; `seed`,
            `sample_shape` or `batch_size` is malformed.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> layer = ed.layers.DenseReparameterization(4, name="dense")
        >>> layer.build([None, 3])
        >>> weights = sample_weights(layer, sample_shape=[5], seed=(1, 2))
        >>> weights["dense/kernel"].shape
        TensorShape([5, 3, 4])
    """
    given, sample_shape = sample_shape, as_sizes(sample_shape)
    if sample_shape is None or len(sample_shape) > 1:
        raise ValueError(f"sample_shape must be () or [S], got {given!r}")
    if not (batch_size is None or tf.is_tensor(batch_size)):
        batch_size = as_size("batch_size", batch_size)
    seed = as_seed(seed)
    draws = {}
    for name, (_, weight) in named_weights(model).items():
        posterior = weight.posterior()
        draws[name] = draw_from(posterior, sample_shape, seed_of(name, seed))
    if batch_size is not None:
        for name, (_, _, size) in named_signs(model).items():
            shape = [*sample_shape, batch_size, size]
            draws[name] = rademacher(shape, seed_of(name, seed))
    return draws


def as_sizes(shape):
    """Whole numbers above 0 as a list of ints; None where there are others."""
    sizes = np.ravel(shape).tolist()
    return [int(size) for size in sizes] if all(map(_is_size, sizes)) else None


def _is_size(size):
    return isinstance(size, (int, float)) and size >= 1 and size % 1 == 0


def as_size(name, given):
    """One size as an int; a ValueError where it is none."""
    size = as_sizes(given)
    if size is None or len(size) != 1:
        raise ValueError(f"{name} must be a whole number above 0, got {given!r}")
    return size[0]


@tf.autograph.experimental.do_not_convert
def mean_weights(model):
    """Posterior mean of every stochastic weight.

    Args:
        model: as in `sample_weights`.

    Returns:
        Dict of full name -> [*shape of the weight], to be held.

    Example:
        >>> import bayes_rl as ed
        >>> layer = ed.layers.DenseReparameterization(4, name="dense")
        >>> layer.build([None, 3])
        >>> mean_weights(layer)["dense/kernel"].shape
        TensorShape([3, 4])
    """
    return {name: mean_of(posterior) for name, posterior in posteriors(model).items()}


@tf.autograph.experimental.do_not_convert
def posteriors(model):
    """Posterior of every stochastic weight.

    Args:
        model: as in `sample_weights`.

    Returns:
        Dict of full name -> TFP distribution over the whole weight.

    Example:
        >>> import bayes_rl as ed
        >>> layer = ed.layers.DenseReparameterization(4, name="dense")
        >>> layer.build([None, 3])
        >>> posteriors(layer)["dense/kernel"].event_shape
        TensorShape([3, 4])
    """
    return {name: weight.posterior() for name, (_, weight) in named_weights(model).items()}


@tf.autograph.experimental.do_not_convert
def kl_divergences(model):
    """Cost of every stochastic weight that has a regularizer.

    Their sum is in `losses`, which leave out those of layers that are not trainable.

    Args:
        model: as in `sample_weights`.

    Returns:
        Dict of full name -> [], in nats times the regularizer's `scale_factor` and the
        scale of `scale_kl`.

    Example:
        >>> import bayes_rl as ed
        >>> layer = ed.layers.DenseReparameterization(4, name="dense")
        >>> layer.build([None, 3])
        >>> bool(kl_divergences(layer)["dense/kernel"] == sum(layer.losses))
        True
    """
    named = named_weights(model).items()
    return {name: weight.cost() for name, (_, weight) in named if weight.regularizer}
