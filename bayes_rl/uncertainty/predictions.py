"""Predictions that are distributions: computed in float32 or more, at targets that fit."""

import numpy as np
import tensorflow as tf
from tensorflow_probability import bijectors as tfb
from tensorflow_probability import distributions as tfd

from bayes_rl.random_variables.random_variable import RandomVariable
from bayes_rl.uncertainty.arguments import (
    has_column,
    require,
    tensor_of,
    whole,
    with_classes,
)

_CLASSES = (tfd.Bernoulli, tfd.Categorical, tfd.OneHotCategorical)


def is_array(prediction):
    """Whether a prediction is numbers, not a random variable or distribution."""
    return isinstance(prediction, (np.ndarray, tf.Tensor, tf.Variable))


def distribution_of(prediction):
    """Distribution with an axis of draws, [S, ...], that computes in float32 or more.

    Raises:
        ValueError: it is none, nor a random variable, or has no axis of draws.
    """
    if isinstance(prediction, RandomVariable):
        prediction = prediction.distribution
    # One's own may have what is asked for: log_prob, batch_shape, event_shape and dtype.
    if not all(hasattr(prediction, name) for name in ("log_prob", "batch_shape")):
        given = type(prediction).__name__
        shape = getattr(prediction, "shape", None)
        raise ValueError(
            "prediction must be a random variable or a distribution, such as "
            "ed.Categorical(logits=outputs) or ed.Normal(outputs, stddev of the noise) of "
            f"what ed.predict returns, got {given}"
            + ("" if shape is None else f" of shape {tuple(shape)}")
        )
    if prediction.batch_shape.rank == 0 or prediction.batch_shape[:1] == [0]:
        raise ValueError(
            "the first batch axis of a prediction must be draws of the weights, got "
            f"batch_shape {tuple(prediction.batch_shape)} of {type(prediction).__name__}"
        )
    return _wide(prediction)


def _wide(value):
    """A distribution, and what it is made of, in float32 where it was in half precision."""
    if isinstance(value, (tfd.Distribution, tfb.Bijector)):
        given = value.parameters
        wide = {key: _wide(x) for key, x in given.items()}
        changed = {key: x for key, x in wide.items() if x is not given[key]}
        return value.copy(**changed) if changed else value
    if isinstance(value, (list, tuple)):
        wide = [_wide(x) for x in value]
        is_same = all(x is y for x, y in zip(wide, value, strict=True))
        return value if is_same else type(value)(wide)
    if isinstance(value, (tf.DType, np.dtype, type)):
        return tf.float32 if _is_half(value) else value
    if not _is_half(getattr(value, "dtype", None)):
        return value
    return tf.cast(tf.convert_to_tensor(value), tf.float32)


def _is_half(dtype):
    try:
        return dtype is not None and tf.as_dtype(dtype) in (tf.float16, tf.bfloat16)
    except TypeError:
        return False


def outcomes_of(distribution, targets):
    """Targets as outcomes of a distribution with an axis of draws, and of its type.

    A last axis of size 1 that targets or outcomes alone have is dropped.

    Returns:
        Targets, and whether the density has a last axis of size 1 more than they.

    Raises:
        ValueError: they are of another shape, or no outcomes.
    """
    targets = _targets(distribution, targets)
    event = distribution.event_shape
    expected, found = distribution.batch_shape[1:] + event, targets.shape
    if expected.rank is None or (found.rank == 0 == event.rank):
        return targets, False
    if has_column(expected, found):
        return targets[..., tf.newaxis], event.rank == 0
    if has_column(found, expected):
        return targets[..., 0], False
    if not found.is_compatible_with(expected):
        raise ValueError(
            f"targets of a prediction of {type(distribution).__name__} with batch shape "
            f"{distribution.batch_shape}, whose first axis is S, and event shape {event} "
            f"must have shape {expected}, got {found}"
        )
    return targets, False


def _targets(distribution, targets):
    targets = tensor_of("targets", targets, distribution.dtype)
    if isinstance(distribution, _CLASSES):
        targets = whole("targets", targets, _number_of_classes(distribution))
    elif distribution.dtype.is_integer and targets.dtype.is_floating:
        is_whole = tf.reduce_all(tf.floor(targets) == targets)
        require(is_whole, "targets must be whole numbers", lambda: "others")
    return tf.cast(targets, distribution.dtype)


def _number_of_classes(distribution):
    if isinstance(distribution, tfd.Categorical):
        parameter = (
            distribution.logits if distribution.probs is None else distribution.probs
        )
        return parameter.shape[-1]
    return 2


def probabilities_of(distribution):
    """Probabilities [S, ..., classes]; None where outcomes are not classes."""
    if isinstance(distribution, tfd.Bernoulli):
        return with_classes(distribution.probs_parameter()[..., tf.newaxis])
    if isinstance(distribution, (tfd.Categorical, tfd.OneHotCategorical)):
        return distribution.probs_parameter()
    return None
