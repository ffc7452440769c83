"""Arguments of layers' constructors: what goes to Keras, and what a layer keeps itself."""

from bayes_rl import initializers, regularizers

_GET = {"initializer": initializers.get, "regularizer": regularizers.get}


def arguments(values):
    """Keyword arguments of a constructor, of its `locals()`.

    Initializers and regularizers given by name or configuration become objects, because
    Keras does not know the names of ours.

    Args:
        values: `locals()` of a constructor with `**kwargs`, before it has other variables.

    Returns:
        Dict of name -> value.

    Raises:
        ValueError: an initializer or regularizer is unknown.

    Example:
        >>> def make(self, units, kernel_initializer="trainable_normal", **kwargs):
        ...     return arguments(locals())
        >>> sorted(make(None, 4, name="dense"))
        ['kernel_initializer', 'name', 'units']
    """
    named = {k: v for k, v in values.items() if k not in ("self", "__class__", "kwargs")}
    return {k: _found(k, v) for k, v in {**named, **values["kwargs"]}.items()}


def _found(name, value):
    kind = name.rpartition("_")[2]
    return _GET[kind](value) if kind in _GET and name != "activity_regularizer" else value


def own_names(kind):
    """Names in the `own_arguments` of a class and its bases."""
    return [name for c in kind.__mro__ for name in vars(c).get("own_arguments", ())]
