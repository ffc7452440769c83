"""Means of the costs of examples."""

import tensorflow as tf


def mean_cost(costs):
    """Mean of all elements; an empty batch costs nothing.

    Args:
        costs: [...].

    Returns:
        [].

    Example:
        >>> float(mean_cost(tf.constant([1.0, 3.0]))), float(mean_cost(tf.zeros([0])))
        (2.0, 0.0)
    """
    return tf.reduce_sum(costs) / tf.cast(tf.maximum(tf.size(costs), 1), costs.dtype)
