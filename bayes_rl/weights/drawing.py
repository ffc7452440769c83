"""Functions of all weights of a model: draws, means, posteriors, costs.

Draws are stateless: the same seed gives the same draw in eager mode, in a `tf.function`,
under XLA, in any replica, and whichever other layers the model has, where layers have names
of their own.
"""

import zlib

import tensorflow as tf

from bayes_rl import checks
from bayes_rl.numerics.noise import as_seed, rademacher
from bayes_rl.random_variables.families import draw_from, mean_of
from bayes_rl.weights.naming import named_signs, named_weights, seed_labels


def seed_of(label, seed):
    """The seed of one draw: it depends on nothing but `seed` and the label."""
    label = tf.constant(zlib.crc32(label.encode()) & 0x7FFFFFFF, tf.int32)
    return tf.random.experimental.stateless_fold_in(seed, label, alg="philox")


def sample_weights(model, sample_shape=(), seed=None, batch_size=None):
    """Draws every stochastic weight of a model from its posterior.

    The draw of a weight depends on the seed and on the weight's name. With one seed,
    weights of one name have the same draw in every model: give each member of an ensemble
    its own seed. If Keras named a layer, such as `dense_flipout_7`, its position among such
    layers of the model is used, not the number. A model that is made twice therefore has
    the same draws. If you name the layers, draws stay the same when layers of that kind are
    added.

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
    given, sample_shape = sample_shape, checks.as_sizes(sample_shape)
    if sample_shape is None or len(sample_shape) > 1:
        raise ValueError(f"sample_shape must be () or [S], got {given!r}")
    if not (batch_size is None or tf.is_tensor(batch_size)):
        batch_size = checks.as_size("batch_size", batch_size)
    seed, labels = as_seed(seed), seed_labels(model)
    draws = {}
    for name, (_, weight) in named_weights(model).items():
        posterior = weight.posterior()
        draws[name] = draw_from(posterior, sample_shape, seed_of(labels[name], seed))
    if batch_size is not None:
        for name, (_, _, size) in named_signs(model).items():
            shape = [*sample_shape, batch_size, size]
            draws[name] = rademacher(shape, seed_of(labels[name], seed))
    return draws


class SignsOfSeed:
    """Signs for as many rows as the layer has that asks for them, always the same."""

    def __init__(self, seed, size):
        self._seed, self._size = seed, size

    def __call__(self, rows):
        return rademacher([rows, self._size], self._seed)


def sample_with_signs(model):
    """One new draw of the weights of a model, and of signs for any number of rows.

    A layer may have more rows than a model has examples, as inside of `TimeDistributed`.
    The two dicts, of weights and of `SignsOfSeed`, are to be held together.
    """
    seed, labels = as_seed(None), seed_labels(model)
    signs = {
        name: SignsOfSeed(seed_of(labels[name], seed), size)
        for name, (_, _, size) in named_signs(model).items()
    }
    return sample_weights(model, seed=seed), signs


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
