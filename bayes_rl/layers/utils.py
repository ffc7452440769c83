"""Helpers of layers, under the names that Edward2 gives them."""

import tensorflow as tf

from bayes_rl.layers.outputs.predictive_softmax import (
    mean_field_logits,
    monte_carlo_softmax,
)
from bayes_rl.layers.reversible.one_hot import (
    multiplicative_inverse,
    one_hot_add,
    one_hot_argmax,
    one_hot_minus,
    one_hot_multiply,
    py_multiplicative_inverse,
)
from bayes_rl.layers.reversible.permutations import sinkhorn, soft_to_hard_permutation

__all__ = [
    "mean_field_logits",
    "monte_carlo_softmax",
    "multiplicative_inverse",
    "one_hot_add",
    "one_hot_argmax",
    "one_hot_minus",
    "one_hot_multiply",
    "py_multiplicative_inverse",
    "sinkhorn",
    "smart_constant_value",
    "soft_to_hard_permutation",
]


def smart_constant_value(pred):
    """The truth of a condition where it is known without running a graph.

    Args:
        pred: bool, 0, 1 or a scalar tensor.

    Returns:
        A bool, or None for a tensor whose value is not known yet.

    Raises:
        TypeError: it is none of these.

    Example:
        >>> smart_constant_value(tf.constant(True)), smart_constant_value(0)
        (True, False)
    """
    if tf.is_tensor(pred):
        value = tf.get_static_value(pred)
        return None if value is None else bool(value)
    if isinstance(pred, (bool, int)) and pred in (0, 1):
        return bool(pred)
    raise TypeError(f"pred must be a bool, 0, 1 or a tensor, got {pred!r}")
