"""Stateless seeds: every random number is a function of the run's seed and of counters."""

import tensorflow as tf


def fold(seed, number):
    """The seed that belongs to a number, such as that of an episode or a train step.

    Args:
        seed: [2], int32.
        number: [], any integer type.

    Returns:
        [2], int32; the same on every device.

    Example:
        >>> seed = tf.constant([0, 1])
        >>> bool(tf.reduce_all(fold(seed, 2) == fold(seed, 2)))
        True
    """
    number = tf.cast(number, tf.int32)
    return tf.random.experimental.stateless_fold_in(seed, number, alg="philox")


def split(seed, count):
    """`count` independent seeds, [count, 2]."""
    return tf.random.experimental.stateless_split(seed, count, alg="philox")


def normal(shape, seed):
    """Standard normal numbers, float32; without XLA the same on every device."""
    return tf.random.stateless_normal(shape, seed, alg="philox")
