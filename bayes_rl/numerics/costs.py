"""Means of the costs of examples."""

import tensorflow as tf


def mean_cost(costs):
    """Mean of all elements, []; an empty batch costs nothing."""
    return tf.reduce_sum(costs) / tf.cast(tf.maximum(tf.size(costs), 1), costs.dtype)
