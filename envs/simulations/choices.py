"""Actions that are categories: how gym, gymnasium and dm_env describe and take them."""

import numpy as np

MOST = 1000  # categories of all parts of an action together


def choices(actions):
    """What actions choose, or None where they are no categories.

    It is a pair: how many categories each part of an action has, a tuple, and the number of
    the first category of each, [parts].

    `Discrete`, `MultiDiscrete` and `MultiBinary` of gym and gymnasium; `DiscreteArray` of
    dm_env; and arrays of integers with bounds, each number of which is a part.

    Raises:
        ValueError: they are integers without bounds, or have no category, or more than
            `MOST`.

    Example:
        >>> from dm_env import specs
        >>> choices(specs.BoundedArray([2], int, [1, 0], [3, 1]))
        ((3, 2), array([1, 0]))
    """
    found = _of_gym(actions) if hasattr(actions, "sample") else None
    if found is None:
        found = _of_integers(actions)
    if found is None:
        return None
    counts, first = found
    if not np.size(counts) or np.min(counts) < 1:
        raise ValueError("each part needs at least one category, and there is none")
    total = int(np.sum(counts, dtype=np.float64))
    if total > MOST:
        raise ValueError(f"at most {MOST:,} categories are supported, got {total:,}")
    counts = np.ravel(counts).astype(int)
    first = np.broadcast_to(np.ravel(first), counts.shape).astype(int)
    return tuple(counts.tolist()), first


def _of_gym(space):
    if getattr(space, "nvec", None) is not None:  # MultiDiscrete
        start = getattr(space, "start", None)
        return space.nvec, 0 if start is None else start
    if not hasattr(space, "n"):
        return None
    if space.shape:  # MultiBinary
        return np.full(space.shape, 2), 0
    return space.n, getattr(space, "start", 0)


def _of_integers(actions):
    if kind_of(actions) not in "biu":
        return None
    bounds = bounds_of(actions)
    if any(bound is None for bound in bounds):
        raise ValueError("integers need a least and a greatest one")
    shape = actions.shape
    low, high = (np.broadcast_to(np.asarray(b, np.float64), shape) for b in bounds)
    return high - low + 1, low


def kind_of(described):
    """`np.dtype.kind` of the array that a spec or space describes; O where it is none."""
    shape, dtype = getattr(described, "shape", None), getattr(described, "dtype", None)
    return "O" if shape is None or dtype is None else np.dtype(dtype).kind


def bounds_of(space, low=None, high=None):
    """Least and greatest values as gym or dm_env tell them; else those that are given."""
    low = getattr(space, "low", getattr(space, "minimum", low))
    return low, getattr(space, "high", getattr(space, "maximum", high))


def shaped(action, actions):
    """An action [A] or [parts] as an array of the shape and type of `actions`, or a number.

    Example:
        >>> from dm_env import specs
        >>> shaped(np.array([2]), specs.DiscreteArray(3))
        2
    """
    return action.reshape(actions.shape).astype(actions.dtype)[()]
