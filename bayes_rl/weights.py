"""Draws of a model's weights: draw them, hold them, take their mean.

A Bayesian layer is a distribution over functions. One draw of all weights is one function,
and S draws are S functions:

    weights = sample_weights(model, sample_shape=[S], seed=seed)  # name -> [S, ...]
    with hold(model, weights):
        outputs = model(inputs)  # [S, N, features] -> [S, N, units]

Draws are stateless: the same seed gives the same draw in eager mode, in a `tf.function`,
under XLA, in any replica, and whichever other layers the model has.

Source: Tran et al., 2019, Bayesian Layers: A Module for Neural Network Uncertainty.
"""

import collections
import contextlib
import difflib
import threading
import zlib

import tensorflow as tf

from bayes_rl import graphs
from bayes_rl.families import draw_from, mean_of
from bayes_rl.noise import as_seed, rademacher

_local = threading.local()


def _stochastic_layers(model):
    """Layers with stochastic weights, each once, in a fixed order."""
    roots = model if isinstance(model, (list, tuple)) else [model]
    found = {}
    for root in roots:
        if not isinstance(root, tf.Module):
            raise TypeError(
                "model must be a tf.Module, Keras layer or model, or a list of them; "
                f"got {type(root).__name__}"
            )
        for module in (*_in_order_of_calls(root), root, *root.submodules):
            if getattr(module, "stochastic_weights", None):
                found[id(module)] = module
    return found.values()


def _in_order_of_calls(root):
    """Keras layers as the model lists them; `submodules` goes by names of attributes."""
    return root._flatten_layers() if isinstance(root, tf.keras.layers.Layer) else ()


def named_weights(model):
    """Every stochastic weight with its layer.

    Args:
        model: as in `sample_weights`.

    Returns:
        Dict of full name -> (layer, `StochasticWeight`).

    Raises:
        ValueError: two weights have the same name.

    Example:
        >>> import bayes_rl as ed
        >>> layer = ed.layers.DenseReparameterization(4, name="dense")
        >>> layer.build([None, 3])
        >>> named_weights(layer)["dense/kernel"][1].shape
        (3, 4)
    """
    named = {}
    for layer in _stochastic_layers(model):
        for weight in layer.stochastic_weights.values():
            if weight.name in named:
                raise ValueError(
                    f"two layers have a weight named {weight.name!r}; give each layer of "
                    "the model a name of its own"
                )
            named[weight.name] = layer, weight
    return named


@tf.autograph.experimental.do_not_convert
def named_signs(model):
    """Every tensor of signs that gives each example a draw of its own.

    `sample_weights` draws them for a batch size, with a row for each example; all else that
    it draws is shared by the batch.

    Args:
        model: as in `sample_weights`.

    Returns:
        Dict of full name -> (layer, name within the layer, size of the last axis).

    Example:
        >>> import bayes_rl as ed
        >>> layer = ed.layers.DenseFlipout(4, name="dense")
        >>> layer.build([None, 3])
        >>> {name: size for name, (_, _, size) in named_signs(layer).items()}
        {'dense/kernel/sign_input': 3, 'dense/kernel/sign_output': 4}
    """
    return {
        f"{layer.name}/{key}": (layer, key, size)
        for layer in _stochastic_layers(model)
        for key, size in layer.sign_sizes().items()
    }


def _seed_of(name, seed):
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
        Dict of full name -> [*sample_shape, *shape of the weight]; gradients flow to the
        parameters of the posteriors.

    Raises:
        ValueError: two weights have the same name; `seed` or `sample_shape` is malformed.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> layer = ed.layers.DenseReparameterization(4, name="dense")
        >>> layer.build([None, 3])
        >>> weights = sample_weights(layer, sample_shape=[5], seed=(1, 2))
        >>> weights["dense/kernel"].shape
        TensorShape([5, 3, 4])
    """
    sample_shape = list(tf.TensorShape(sample_shape))
    if len(sample_shape) > 1:
        raise ValueError(f"sample_shape must be () or [S], got {sample_shape}")
    seed = as_seed(seed)
    draws = {}
    for name, (_, weight) in named_weights(model).items():
        posterior = weight.posterior()
        draws[name] = draw_from(posterior, sample_shape, _seed_of(name, seed))
    if batch_size is not None:
        for name, (_, _, size) in named_signs(model).items():
            shape = [*sample_shape, batch_size, size]
            draws[name] = rademacher(shape, _seed_of(name, seed))
    return draws


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
    """Cost of every stochastic weight that has a regularizer; their sum is in `losses`.

    Args:
        model: as in `sample_weights`.

    Returns:
        Dict of full name -> [], in nats times the regularizer's `scale_factor`.

    Example:
        >>> import bayes_rl as ed
        >>> layer = ed.layers.DenseReparameterization(4, name="dense")
        >>> layer.build([None, 3])
        >>> bool(kl_divergences(layer)["dense/kernel"] == sum(layer.losses))
        True
    """
    named = named_weights(model).items()
    return {name: weight.cost() for name, (_, weight) in named if weight.regularizer}


_Frame = collections.namedtuple("_Frame", ["graph", "values", "layers"])


@contextlib.contextmanager
def hold(model, weights):
    """Fixes the stochastic weights of a model while the context lasts.

    Inside, the model is deterministic. Weights with a leading axis S are S functions:
    inputs [S, N, ..., features] give outputs [S, N, ..., units]. Contexts nest, the
    innermost counts; other threads do not see them. A `tf.function` that calls the model
    must enter the context itself, because it is traced once and would keep the first draw;
    `model.predict` is such a function, so call the model. With a distribution strategy
    enter it in the function that the replicas run, each in a thread of its own.

    Args:
        model: as in `sample_weights`.
        weights: full name -> tensor for every stochastic weight, as from `sample_weights`
            or `mean_weights`. A Flipout layer without signs uses its kernel as it is.

    Yields:
        None.

    Raises:
        ValueError: a name is missing or unknown, or a shape is wrong.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> layer = ed.layers.DenseReparameterization(4)
        >>> layer.build([None, 3])
        >>> with ed.hold(layer, ed.sample_weights(layer, seed=1)):
        ...     same = layer(tf.ones([2, 3])) == layer(tf.ones([2, 3]))
        >>> bool(tf.reduce_all(same))
        True
    """
    values = _checked(model, weights)
    frame = _Frame(graphs.current(), values, list(_stochastic_layers(model)))
    frames = _frames()
    frames.append(frame)
    try:
        yield
    finally:
        frames.pop()


def _frames():
    if not hasattr(_local, "frames"):
        _local.frames = []
    return _local.frames


def _checked(model, weights):
    named = named_weights(model)
    if missing := sorted(named.keys() - weights.keys()):
        raise ValueError(f"weights to hold lack {missing[0]!r}, a weight of the model")
    slots = {
        name: (layer, weight.key, weight.shape) for name, (layer, weight) in named.items()
    }
    for name, (layer, key, size) in named_signs(model).items():
        slots[name] = layer, key, (None, size)
    values = {}
    for name, value in weights.items():
        if name not in slots:
            raise ValueError(_unknown(name, slots))
        layer, key, shape = slots[name]
        values[id(layer), key] = _with_shape(name, tf.convert_to_tensor(value), shape)
    return values


def _unknown(name, slots):
    nearest = difflib.get_close_matches(name, slots, n=1)
    hint = f"; did you mean {nearest[0]!r}?" if nearest else ""
    return f"{name!r} is not a stochastic weight of the model{hint}"


def _with_shape(name, value, shape):
    if not any(value.shape.is_compatible_with(s) for s in (shape, (None, *shape))):
        raise ValueError(
            f"weight {name!r} to hold must have shape {tuple(shape)}, or one more axis in "
            f"front, got {tuple(value.shape)}"
        )
    return value


@tf.autograph.experimental.do_not_convert
def held(layer, key):
    """The held tensor of a layer's weight or signs, or None.

    Args:
        layer: the layer itself.
        key: name within the layer, such as "kernel" or "kernel/sign_input".

    Returns:
        The tensor of the innermost `hold` that names it, or None.

    Raises:
        RuntimeError: it was entered outside of the `tf.function` being traced.
    """
    for frame in reversed(_frames()):
        if (id(layer), key) in frame.values:
            _check_same_function(frame, layer)
            return frame.values[id(layer), key]
        # Signs belong to the draw they were made with, so an outer frame's do not count.
        if any(layer is other for other in frame.layers):
            return None
    return None


def _check_same_function(frame, layer):
    if any(graph is frame.graph for graph in graphs.enclosing()):
        return
    raise RuntimeError(
        f"layer {layer.name!r} is traced in a tf.function, but its weights are held "
        "outside of it: the function would keep this draw for ever. Pass the weights as an "
        "argument and enter hold inside the function"
    )
