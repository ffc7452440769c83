"""Stateless seeds: every random number is a function of the run's seed and of counters."""

import enum

from agents.lazy import tf


@enum.unique
class Purpose(enum.IntEnum):
    """What a run draws random numbers for; each purpose has a seed, see `seed_of_run`.

    Saved runs go on with the same numbers, so the values stand as they are. Environments
    and replay draw by numpy, from other streams: see `agents.episodes.environments`.
    """

    TRAIN = 0  # and, after each episode, the spread of what draws predict of it
    POLICY = 1
    COLLECT_POLICY = 2
    FILM = 3
    PROBE = 4
    CALIBRATE = 5


def seed_of_run(seed, purpose):
    """The seed, [2], of a run whose config has the int `seed`, for a `Purpose`.

    Example:
        >>> seed_of_run(7, Purpose.PROBE).numpy().tolist()
        [7, 4]
    """
    return tf.constant([seed, purpose], tf.int32)


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
