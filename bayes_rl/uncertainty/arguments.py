"""Numbers that scores and decompositions are given: in one form, or refused in one line."""

import numpy as np
import tensorflow as tf

_EXACT_IN_FLOAT32 = 16  # bits of an integer
_OF_SUM = 0.02  # that probabilities in half precision may be rounded by


def require(condition, text, got):
    """Checks values: a ValueError of one line, in a traced function a failing assertion.

    `text` says what would be right, and the function `got` what was given.
    """
    if not tf.executing_eagerly():
        tf.debugging.Assert(condition, [text])
    elif not condition:
        raise ValueError(f"{text}, got {got()}")


def numbers(name, given, dtype=tf.float32):
    """Numbers of any kind as a tensor of float32, or float64.

    Whole numbers of 32 bits become float64; lists and numbers of Python have the given
    type.
    """
    tensor = tensor_of(name, given, dtype)
    if tensor.dtype in (tf.float32, tf.float64):
        return tensor
    is_long = tensor.dtype.is_integer and tensor.dtype.size * 8 > _EXACT_IN_FLOAT32
    return tf.cast(tensor, tf.float64 if is_long else tf.float32)


def tensor_of(name, given, dtype=None):
    """Tensor of numbers, of their own type; lists and numbers of Python get another."""
    if not isinstance(given, (list, tuple, int, float)):
        dtype = None  # Arrays have their own.
    try:
        tensor = tf.convert_to_tensor(given, dtype_hint=dtype)
        kind = f"{type(given).__name__} of {tensor.dtype.name}"
    except (TypeError, ValueError):
        tensor, kind = None, type(given).__name__
    if tensor is None or not tensor.dtype.is_numpy_compatible or not _is_real(tensor.dtype):
        raise ValueError(f"{name} must be an array of numbers, got {kind}")
    return tensor


def _is_real(dtype):
    return dtype.is_floating or dtype.is_integer or dtype.is_bool


def draws_and_targets(draws, targets):
    """Draws [S, ...] and targets [...], of one type and shape; one number is for all.

    A last axis of size 1 that one of them alone has is dropped.

    Raises:
        ValueError: they are of other shapes, or there are no draws.
    """
    draws = numbers("draws", draws)
    targets = numbers("targets", targets, draws.dtype)
    if draws.shape.rank == 0 or draws.shape[:1] == [0]:
        raise ValueError(
            f"draws must have shape [S, ...], S of the outcome at each target, got "
            f"{draws.shape}"
        )
    expected, found = draws.shape[1:], targets.shape
    if has_column(expected, found):
        draws = draws[..., 0]
    elif has_column(found, expected):
        targets = targets[..., 0]
    elif found.rank and not found.is_compatible_with(expected):
        raise ValueError(
            f"targets of draws {draws.shape}, whose first axis is S, must have shape "
            f"{expected}, got {found}"
        )
    return draws, tf.cast(targets, draws.dtype)


def has_column(shape, other):
    """Whether a shape is another one with a last axis of size 1."""
    if None in (shape.rank, other.rank) or shape.rank != other.rank + 1:
        return False
    return shape.is_compatible_with(other + [1])


def labels_and_probabilities(labels, probabilities):
    """Labels [...], int64, and probabilities [..., classes], float32 or float64.

    Labels may be [..., 1] and of any type, and probabilities [..., 1], those of class 1 of
    two.

    Raises:
        ValueError: they are of other shapes or values.
    """
    labels = tensor_of("labels", labels)
    probabilities = with_classes(numbers("probabilities", probabilities))
    check_probabilities(probabilities)
    expected = probabilities.shape[:-1]
    if has_column(labels.shape, expected):
        labels = labels[..., 0]
    if not labels.shape.is_compatible_with(expected):
        raise ValueError(_other_labels(labels, probabilities))
    return whole("labels", labels, probabilities.shape[-1]), probabilities


def _other_labels(labels, probabilities):
    expected, found = probabilities.shape[:-1], labels.shape
    text = f"labels of probabilities {probabilities.shape} must have shape {expected}"
    hint = ""
    if found.rank and found.is_compatible_with(probabilities.shape):
        hint = "; of one-hot labels take tf.argmax(labels, -1)"
        if found.rank == 1:
            hint = "; of a sigmoid give the probabilities of both, [N, 2], or [N, 1]"
    elif expected.rank and found.is_compatible_with(expected[1:]):
        hint = "; average probabilities over their draws, as ed.uncertainty."
        hint += "mean_probabilities does"
    return f"{text}, got {found}{hint}"


def with_classes(probabilities):
    """Probabilities [..., classes]; of a sigmoid, [..., 1], those of 0 and 1."""
    if probabilities.shape.rank == 0 or probabilities.shape[-1] == 0:
        raise ValueError(
            "probabilities must have shape [..., classes], or [..., 1] of a sigmoid, got "
            f"{probabilities.shape}"
        )
    if probabilities.shape[-1] != 1:
        return probabilities
    return tf.concat([1.0 - probabilities, probabilities], axis=-1)


def check_probabilities(probabilities):
    """Checks the range of [..., classes], and sums over classes; NaN passes."""
    low, high = probabilities < -_OF_SUM, probabilities > 1.0 + _OF_SUM
    require(
        not_any(low | high),
        "probabilities must be between 0 and 1 (tf.nn.softmax and tf.sigmoid make such of "
        "logits)",
        lambda: f"numbers from {_least(probabilities)} to {_greatest(probabilities)}",
    )
    sums = tf.reduce_sum(probabilities, axis=-1)
    require(
        not_any(tf.abs(sums - 1.0) > _OF_SUM),
        "probabilities must sum to 1 over the classes, the last axis",
        lambda: f"sums from {_least(sums)} to {_greatest(sums)}",
    )


def not_any(wrong):
    """Whether no element is true."""
    return tf.logical_not(tf.reduce_any(wrong))


def _least(tensor):
    return f"{np.nanmin(tensor.numpy()):.6g}"


def _greatest(tensor):
    return f"{np.nanmax(tensor.numpy()):.6g}"


def whole(name, given, count):
    """Whole numbers from 0 to count - 1, as far as that is known, of any type as int64."""
    found = tf.cast(given, tf.int64)
    end = "" if count is None else f" to {count - 1}"
    wrong = (found < 0) | (found >= tf.int64.max if count is None else found >= count)
    if given.dtype.is_floating:
        wrong |= tf.cast(found, given.dtype) != given
    require(
        not_any(wrong),
        f"{name} must be whole numbers from 0{end}",
        lambda: f"{given.numpy()[wrong.numpy()][0]}",
    )
    return found
