"""Variables of any Keras layer by name, and what they are read as while a context lasts.

A layer reads its variables whenever it is called. Here a read gives another tensor in one
thread, while the variable keeps its value: nothing has to be put back, whatever fails.
"""

import collections
import contextlib
import functools
import threading

import tensorflow as tf

from bayes_rl import checks
from bayes_rl.numerics import graphs
from bayes_rl.scopes import Scopes
from bayes_rl.weights.naming import layers_with_variables, modules_of

_scopes = Scopes("held variables")
_lock = threading.Lock()
_users = collections.Counter()  # contexts that replace a variable, by its id
FUNCTIONS_OF_KERAS = ("predict_function", "test_function", "train_function")
_READS = ("value", "read_value", "sparse_read", "gather_nd")


def named_variables(model):
    """Every floating variable of a model: the end of its path that is clear -> variable."""
    named = {}
    for path, variables in layers_with_variables(model):
        for variable in variables:
            if not variable.dtype.is_floating:
                continue
            key = variable.name.split(":")[0].split("/")[-1]
            name = full = f"{path}/{key}" if path else key
            number = 1
            while full in named:
                full, number = f"{name}_{number}", number + 1
            named[full] = variable
    return named


def trainable_variables(model):
    """Those of `named_variables` that are trained; a dict of name -> variable."""
    trained = {id(variable) for variable in model.trainable_variables}
    return {k: v for k, v in named_variables(model).items() if id(v) in trained}


class Held:
    """A read gives this tensor, of the variable's shape."""

    def __init__(self, tensor):
        self.tensor, self.was_read = tensor, False

    def read(self, own, take=None):
        """What a read gives; `own()` is the variable's value, and `take` takes a part."""
        return take(self.tensor) if take else tf.identity(self.tensor)


class Shifted(Held):
    """A read gives the variable plus this tensor; gradients flow to the variable."""

    def read(self, own, take=None):
        return own() + (take(self.tensor) if take else self.tensor)


def held_variables(model, weights, slots):
    """List of (variable, `Held`) of those weights to hold that are variables, and the rest.

    `slots` has the names of stochastic weights, which are none.

    Raises:
        ValueError: a name is unknown, or a shape is wrong.
    """
    if all(name in slots for name in weights):
        return [], weights
    named, found = named_variables(model), []
    for name, value in weights.items():
        if name in slots:
            continue
        if name not in named:
            kind = "stochastic weight" if slots else "variable"
            hint = checks.did_you_mean(name, [*slots, *named])
            raise ValueError(f"{name!r} is not a {kind} of the model{hint}")
        value = tf.convert_to_tensor(value)
        if not value.shape.is_compatible_with(named[name].shape):
            raise ValueError(
                f"variable {name!r} to hold must have shape {tuple(named[name].shape)}, "
                f"got {tuple(value.shape)}; S draws take ed.predict(model, inputs, draws), "
                "or hold one draw after the other"
            )
        found.append((named[name], Held(value)))
    return found, {name: value for name, value in weights.items() if name in slots}


@contextlib.contextmanager
def as_untraced(model):
    """Context in which Keras traces its functions of a model anew, outside of functions."""
    models = [x for x in modules_of(model) if isinstance(x, tf.keras.Model)]
    models = models if tf.executing_eagerly() else []
    kept = [[getattr(x, name) for name in FUNCTIONS_OF_KERAS] for x in models]
    _set_functions(models, [[None] * len(FUNCTIONS_OF_KERAS)] * len(models))
    try:
        yield
    finally:
        _set_functions(models, kept)


def _set_functions(models, functions):
    for model, own in zip(models, functions, strict=True):
        for name, function in zip(FUNCTIONS_OF_KERAS, own, strict=True):
            setattr(model, name, function)


@contextlib.contextmanager
def replaced(values):
    """Lets reads of variables give something else in this thread, while it lasts.

    Contexts nest, the innermost counts. In a replica of a distribution strategy they are
    the replica's own. Values are a list of (variable, `Held` or `Shifted`); with None
    variables are read as they are, whatever an outer context says.
    """
    frame = None
    if values is not None:
        frame = {id(each): (each, x) for v, x in values for each in _components(v)}
    parts = [] if frame is None else [each for each, _ in frame.values()]
    _begin(parts)
    try:
        with _scopes.entered((graphs.current(), frame)):
            yield
    finally:
        _end(parts)


def as_they_are():
    """Context in which variables are read as they are."""
    return replaced(None)


def _components(variable):
    """The variables of TensorFlow that a variable of Keras or of replicas is made of."""
    variable = getattr(variable, "_variable", variable)  # of one that casts itself
    if not isinstance(variable, tf.distribute.DistributedValues):
        return [variable]
    context = tf.distribute.get_replica_context()
    parts = variable.values
    if context is None or context.num_replicas_in_sync != len(parts):
        return parts
    return [parts[int(tf.get_static_value(context.replica_id_in_sync_group))]]


def _begin(parts):
    with _lock:
        for each in parts:
            _users[id(each)] += 1
            if _users[id(each)] == 1:
                each.__class__ = _replaceable(type(each))


def _end(parts):
    with _lock:
        for each in parts:
            _users[id(each)] -= 1
            if not _users[id(each)]:
                del _users[id(each)]
                each.__class__ = type(each).__bases__[0]


@functools.cache
def _replaceable(kind):
    """Subclass of a class of variables whose reads can be replaced."""
    members = {name: _reader(kind, name) for name in _READS}
    # Eager operations read a variable by its handle themselves, unless it has none.
    members["_handle"] = property(_handle_of, _set_handle)
    members["handle"] = property(lambda variable: vars(variable)["_handle"])
    return type(kind)(kind.__name__, (kind,), members)


def _handle_of(variable):
    if tf.executing_eagerly() and _replacement_of(variable) is not None:
        return None
    return vars(variable)["_handle"]


def _set_handle(variable, handle):
    vars(variable)["_handle"] = handle


def _reader(kind, name):
    own = getattr(kind, name)
    gather = {"sparse_read": tf.gather, "gather_nd": tf.gather_nd}.get(name)

    def read(variable, *args, **kwargs):
        replacement = _replacement_of(variable)
        if replacement is None:
            return own(variable, *args, **kwargs)
        indices = args[0] if args else kwargs.get("indices")
        take = None if gather is None else lambda x: gather(x, indices)
        return replacement.read(lambda: own(variable, *args, **kwargs), take)

    return read


def _replacement_of(variable):
    for graph, frame in _scopes.innermost_first():
        if frame is None:
            return None
        if id(variable) in frame:
            if not any(graph is other for other in graphs.enclosing()):
                raise RuntimeError(
                    f"variable {variable.name!r} is read in a tf.function, but its draw is "
                    "held outside of it: the function would keep this draw for ever. Enter "
                    "hold inside the function, or call the model without one"
                )
            replacement = frame[id(variable)][1]
            replacement.was_read = True
            return replacement
    return None
