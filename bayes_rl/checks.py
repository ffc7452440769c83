"""Arguments are what they should be, or refused in a line that says what would be right."""

import difflib

import numpy as np
import tensorflow as tf


def at_least_1(**given):
    """Raises a ValueError that names the first number below 1, or None."""
    for name, value in given.items():
        if value is None or value < 1:
            raise ValueError(f"{name} must be at least 1, got {value}")


def above_0(**given):
    """Raises a ValueError that names the first number, or array, not above 0, or None."""
    for name, value in given.items():
        if not _is_number(value) or not np.all(np.greater(value, 0.0)):
            raise ValueError(f"{name} must be above 0, got {value!r}")


def not_negative(**given):
    """Raises a ValueError that names the first number, or array, below 0."""
    for name, value in given.items():
        if not _is_number(value) or np.any(np.less(value, 0.0)):
            raise ValueError(f"{name} must not be negative, got {value!r}")


def _is_number(value):
    return value is not None and np.issubdtype(np.asarray(value).dtype, np.number)


def one_of(known, **given):
    """Raises a ValueError that names the first value which is not among the known ones."""
    for name, value in given.items():
        if value not in known:
            choices = ", ".join(map(repr, known))
            raise ValueError(f"{name} must be one of {choices}, got {value!r}")


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


def finite(dataset):
    """Raises a ValueError where a `tf.data.Dataset` never ends."""
    if dataset.cardinality() == tf.data.INFINITE_CARDINALITY:
        raise ValueError(
            "the dataset repeats for ever; give a finite one, such as "
            "dataset.take(number of batches)"
        )


def did_you_mean(name, known):
    """The end of a message: the nearest of the known names, or nothing.

    Example:
        >>> did_you_mean("kernl", ["kernel", "bias"])
        "; did you mean 'kernel'?"
        >>> did_you_mean("x", ["kernel", "bias"])
        ''
    """
    nearest = difflib.get_close_matches(name, known, n=1)
    return f"; did you mean {nearest[0]!r}?" if nearest else ""
