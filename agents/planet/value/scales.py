"""Running scales: how far values lie apart, and how large a bonus is."""

import tensorflow as tf

LEAST_SCALE = 0.05  # values closer than this are alike, whatever their spread
_SPREAD = (0.05, 0.95)  # quantiles of the values whose distance is their scale
_SCALE_RATE = 0.01


def make_scale(start):
    """A variable, [], the same on all replicas."""
    return tf.Variable(
        start, trainable=False, aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA
    )


def move(scale, size):
    """Moves a scale on by one hundredth towards what a gradient step has seen."""
    return scale + _SCALE_RATE * (size - scale)


def spread(values):
    """The distance of two quantiles, [].

    Example:
        >>> float(spread(tf.range(21.0)))
        18.0
    """
    ordered = tf.sort(tf.reshape(values, [-1]))
    last = ordered.shape[0] - 1
    low, high = (ordered[round(share * last)] for share in _SPREAD)
    return high - low
