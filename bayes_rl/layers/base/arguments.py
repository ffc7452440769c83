"""Constructors of layers: Keras' arguments, with other defaults and more of them."""

import inspect

from bayes_rl import initializers, regularizers

REQUIRED = inspect.Parameter.empty
_GET = {"initializer": initializers.get, "regularizer": regularizers.get}


def takes(base, without=(), **changes):
    """Class decorator: a constructor with the arguments of another, and what differs.

    A constructor of the class itself, or else the next one above it, gets all of them by
    name. Initializers and regularizers given by name or configuration are made objects,
    because Keras does not know the names of ours.

    Args:
        base: class whose constructor's arguments are taken, in their order.
        without: names of those that are left to `**kwargs`.
        **changes: defaults that differ; and `after_<name>`, a dict of the arguments that
            come after that one, each with its default or `REQUIRED`.

    Raises:
        TypeError: the other constructor has no argument of a name in `changes`.

    Example:
        >>> import inspect, tensorflow as tf
        >>> @takes(tf.keras.layers.ReLU, max_value=6.0, after_max_value={"beta": 1.0})
        ... class Rectifier(tf.keras.layers.ReLU):
        ...     def __init__(self, *, beta, **kwargs):
        ...         super().__init__(**kwargs)
        ...         self.beta = beta
        >>> inspect.signature(Rectifier)
        <Signature (max_value=6.0, beta=1.0, negative_slope=0.0, threshold=0.0, **kwargs)>
        >>> Rectifier(3.0, 2.0).beta
        2.0
    """
    signature = _changed(inspect.signature(base.__init__), without, dict(changes))

    def decorate(kind):
        own = vars(kind).get("__init__")

        def construct(self, *args, **kwargs):
            bound = signature.bind(self, *args, **kwargs)
            bound.apply_defaults()
            del bound.arguments["self"]
            values = bound.arguments | bound.arguments.pop("kwargs")
            values = {name: _object(name, value) for name, value in values.items()}
            own(self, **values) if own else super(kind, self).__init__(**values)

        construct.__signature__ = signature
        kind.__init__ = construct
        return kind

    return decorate


def _changed(signature, without, changes):
    found = []
    for name, parameter in signature.parameters.items():
        default = changes.pop(name, parameter.default)
        if name not in without:
            found.append(parameter.replace(default=default))
        for new, default in changes.pop(f"after_{name}", {}).items():
            kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
            found.append(inspect.Parameter(new, kind, default=default))
    if changes:
        raise TypeError(f"no such arguments: {sorted(changes)}, among {signature}")
    return signature.replace(parameters=found)


def _object(name, value):
    kind = name.rpartition("_")[2]
    return _GET[kind](value) if kind in _GET and name != "activity_regularizer" else value


def own_names(kind):
    """Names in the `own_arguments` of a class and its bases."""
    names = (name for c in kind.__mro__ for name in vars(c).get("own_arguments", ()))
    return list(dict.fromkeys(names))
