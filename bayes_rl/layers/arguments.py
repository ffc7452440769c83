"""What constructors of layers pass on to Keras."""

from bayes_rl import initializers, regularizers


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
    return {k: _object(k, v) for k, v in {**named, **values["kwargs"]}.items()}


def _object(name, value):
    if name.endswith("_initializer"):
        return initializers.get(value)
    if name.endswith("_regularizer") and name != "activity_regularizer":
        return regularizers.get(value)
    return value
