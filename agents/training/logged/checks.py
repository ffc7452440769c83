"""What is wrong with a logged array, in one line: file, entry, given, what is right."""

import numpy as np

from agents.system.errors import UserError
from envs.actions import Categories
from envs.checking import LARGEST

_ROUNDING = 1e-4  # of the range of actions: what a file of float32 may lie beyond a bound
_SHOWN = 8  # entries of a file in a message


def refuse(file, entry, given, right):
    """Raises a `UserError` such as `a.npz: rewards has 3 rows; must have 4, as actions`."""
    raise UserError(f"{file}: {entry} {given}; must {right}")


def entries(arrays, file, names):
    """Refuses a file that lacks one of these entries."""
    if missing := [name for name in names if name not in arrays]:
        found = ", ".join(list(arrays)[:_SHOWN]) or "nothing"
        raise UserError(
            f"{file}: {missing[0]} is missing among {found}; must have {', '.join(names)}"
        )


def real(array, file, entry):
    """An array of numbers, whatever they are."""
    array = np.asarray(array)
    if array.dtype.kind not in "fiub":
        refuse(file, entry, f"is of {array.dtype}", "be numbers")
    return array


def numbers(array, file, entry, rank, shape):
    """An array of finite numbers as float32, or of bytes as it is.

    Its rank is one, or one of a tuple; `shape` says so in words: `[steps, numbers]`.
    """
    array = real(array, file, entry)
    if array.ndim not in (rank if isinstance(rank, tuple) else (rank,)):
        refuse(file, entry, f"has shape {array.shape}", f"be {shape}")
    wrong = ~(np.abs(array) <= LARGEST) if array.dtype.kind == "f" else np.False_
    if wrong.any():
        row = int(np.argwhere(wrong)[0][0])
        value = array[row][wrong[row]].ravel()[0]
        right = f"be finite, and at most {LARGEST:g} in size"
        refuse(file, entry, f"has {value} in row {row}", right)
    return array if array.dtype == np.uint8 else array.astype(np.float32)


def observations(array, file, entry):
    """Vectors as float32, or pictures as uint8."""
    shape = "[steps, numbers], or uint8 [steps, size, size, 3]"
    array = numbers(array, file, entry, (2, 4), shape)
    if array.ndim == 2:
        return array.astype(np.float32)
    if array.dtype != np.uint8 or array.shape[1] != array.shape[2] or array.shape[3] != 3:
        refuse(file, entry, f"is {array.dtype} of shape {array.shape}", f"be {shape}")
    return array


def rows(array, file, entry, counts, like):
    """Refuses an array that has other numbers of rows than these."""
    if len(array) not in counts:
        right = " or ".join(map(str, counts))
        refuse(file, entry, f"has {len(array)} rows", f"have {right}, as {like}")


def one_hot(array, file, categories):
    """Refuses actions [steps, A] that are no categories; row 0 is before any action."""
    space = Categories(tuple(categories), np.zeros(len(categories)))
    wrong = (space.nearest(array[1:]) != array[1:]).any(1)
    if wrong.any():
        row = int(np.argmax(wrong))
        right = f"be one-hot, with a single 1 in each part of {tuple(categories)}"
        refuse(file, "actions", f"has {array[row + 1]} in row {row}", right)


def actions(array, file, entry, low, high, whose):
    """Actions [steps, A] scaled to [-1, 1].

    The smallest and the largest are [A] or []; `whose` tells in words who says so.
    """
    shape = "[steps, numbers], and categories one-hot"
    array = numbers(array, file, entry, 2, shape).astype(np.float64)
    low, high = (np.asarray(bound, np.float64) for bound in (low, high))
    size = array.shape[1]
    for bound in (low, high):
        if bound.ndim > 1 or bound.size not in (1, size):
            right = f"have {bound.size}, {whose}"
            refuse(file, entry, f"has {size} numbers in a row", right)
    if not (np.isfinite(low) & np.isfinite(high) & (low < high)).all():
        given = f"goes from {low} to {high}, {whose}"
        refuse(file, entry, given, "have finite bounds, the lower below the upper")
    slack = _ROUNDING * (high - low)
    outside = (array < low - slack) | (array > high + slack)
    if outside.any():
        row, number = map(int, np.argwhere(outside)[0])
        bounds = (np.broadcast_to(bound, size)[number] for bound in (low, high))
        right = "be from {:g} to {:g}, {}".format(*bounds, whose)
        refuse(file, entry, f"has {array[row, number]:g} in row {row}", right)
    scaled = (2 * array - (high + low)) / (high - low)
    return np.clip(scaled, -1.0, 1.0).astype(np.float32)
