"""To hold draws: a model uses them, and is deterministic in its weights."""

import collections.abc
import contextlib
import weakref

import tensorflow as tf

from bayes_rl.numerics import graphs
from bayes_rl.scopes import Scopes
from bayes_rl.weights.axis_of_draws import check_axis_of_draws
from bayes_rl.weights.drawing import SignsOfSeed
from bayes_rl.weights.naming import named_signs, named_weights, stochastic_layers
from bayes_rl.weights.variables import (
    FUNCTIONS_OF_KERAS,
    as_untraced,
    held_variables,
    replaced,
)

_scopes = Scopes("held weights")
_GUARDED = "_bayes_rl_guarded"

_Frame = collections.namedtuple("_Frame", ["graph", "values", "layers"])


@contextlib.contextmanager
def hold(model, weights):
    """Fixes the weights of a model while the context lasts.

    Inside, the model is deterministic. Weights with a leading axis S are S functions. Each
    function gets all inputs [N, ..., features]; inputs [S, N, ..., features] have a part
    for each function. Both give outputs [S, N, ..., units].

    Some models cannot take the axis S: those with layers such as pooling, and Keras models
    whose inputs are declared (`tf.keras.Input`, `input_shape`) or have one feature. For
    these, `bayes_rl.predict` holds one draw after the other.

    Contexts can be nested; the innermost counts. Other threads and tasks do not see them. A
    generator that yields inside a context holds the weights only in its own steps, not in
    its caller (except a generator of `contextlib.contextmanager`).

    A `tf.function` that calls the model must enter the context itself. Tracing it inside a
    context is an error, because it would keep the first draw. If it was traced before, it
    makes its own draws. `fit`, `evaluate` and `predict` of Keras are such functions and are
    errors in both cases: call the model instead. With a distribution strategy, enter the
    context in the function that the replicas run.

    Variables of any Keras layer can be held too, such as draws of `bayes_rl.inference`, one
    draw at a time. Their own values do not change.

    Args:
        model: as in `sample_weights`.
        weights: full name -> tensor for every stochastic weight, as from `sample_weights`
            or `mean_weights`, and for any of the variables of other layers. A Flipout layer
            without signs uses its kernel as it is.

    Yields:
        None.

    Raises:
        ValueError: a name is missing or unknown, a shape is wrong, numbers of draws differ,
            or a layer of Keras cannot be given S draws.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> layer = ed.layers.DenseReparameterization(4)
        >>> layer.build([None, 3])
        >>> with ed.hold(layer, ed.sample_weights(layer, seed=1)):
        ...     same = layer(tf.ones([2, 3])) == layer(tf.ones([2, 3]))
        >>> bool(tf.reduce_all(same))
        True
    """
    values, variables = _checked(model, weights)
    frame = _Frame(graphs.current(), values, list(stochastic_layers(model)))
    with (
        _scopes.entered(frame),
        replaced(variables),
        as_untraced(model if variables else []),
    ):
        yield


def _checked(model, weights):
    named, signs = named_weights(model), named_signs(model)
    if not isinstance(weights, collections.abc.Mapping):
        raise ValueError(
            "weights to hold must be a dict of names, as from ed.sample_weights, got "
            f"{type(weights).__name__}"
        )
    slots = {
        name: (layer, weight.key, weight.shape) for name, (layer, weight) in named.items()
    }
    for name, (layer, key, size) in signs.items():
        slots[name] = layer, key, (None, size)
    variables, weights = held_variables(model, weights, slots)
    if missing := sorted(named.keys() - weights.keys()):
        raise ValueError(
            f"weights to hold must have all weights of the model; {missing[0]!r} is missing"
        )
    values, draws = {}, {}
    for name, value in weights.items():
        layer, key, shape = slots[name]
        if isinstance(value, SignsOfSeed):
            values[id(layer), key] = value
            continue
        value = _with_shape(name, tf.convert_to_tensor(value), shape)
        values[id(layer), key] = value
        if value.shape.rank is not None and value.shape.rank > len(shape):
            draws[name] = value.shape[0]
    if draws:
        check_axis_of_draws(model, _number_of(draws))
    return values, variables


def _number_of(draws):
    """S of a dict of name -> S; None where it is unknown."""
    names = {count: name for name, count in draws.items() if count is not None}
    if len(names) > 1:
        found = " and ".join(f"{count} of {name!r}" for count, name in names.items())
        raise ValueError(f"all weights must have the same number of draws, got {found}")
    return next(iter(names), None)


def _with_shape(name, value, shape):
    if not any(value.shape.is_compatible_with(s) for s in (shape, (None, *shape))):
        raise ValueError(
            f"weight {name!r} to hold must have shape {tuple(shape)}, or one more axis in "
            f"front, got {tuple(value.shape)}"
        )
    return value


def held(layer, key):
    """The held tensor of a layer's weight or signs, such as "kernel/sign_input", or None.

    It is that of the innermost `hold` that names it; of signs maybe `SignsOfSeed`.

    Raises:
        RuntimeError: it was entered outside of the `tf.function` being traced.
    """
    for frame in _scopes.innermost_first():
        if (id(layer), key) in frame.values:
            _check_same_function(frame, layer)
            return frame.values[id(layer), key]
        # Signs belong to the draw they were made with, so an outer frame's do not count.
        if any(layer is other for other in frame.layers):
            return None
    for graph in graphs.outer():
        if getattr(graph, "name", None) in FUNCTIONS_OF_KERAS:
            _refuse_when_held(graph, layer)
    return None


def _refuse_when_held(graph, layer):
    """Lets each call of a function of Keras look whether a layer of it is held.

    Other functions would then no longer be saved.
    """
    guarded = getattr(graph, _GUARDED, None)
    if guarded is not None:
        guarded.add(layer)
        return
    guarded = weakref.WeakSet([layer])
    setattr(graph, _GUARDED, guarded)

    def check():
        for each in guarded:
            frames = _scopes.innermost_first()
            if any(each is other for frame in frames for other in frame.layers):
                _refuse(each)
        return tf.constant(True)

    graph.capture_call_time_value(check, tf.TensorSpec([], tf.bool))


def _check_same_function(frame, layer):
    if not any(graph is frame.graph for graph in graphs.enclosing()):
        _refuse(layer)


def _refuse(layer):
    raise RuntimeError(
        f"layer {layer.name!r} is traced in a tf.function, but its weights are held "
        "outside of it: the function would keep this draw, or its own, for ever. Pass the "
        "weights as an argument and enter hold inside the function"
    )
