"""Stateless seeds: every random number is a function of the run's seed and of counters.

A seed is [2]. Where the rows of a batch must not know of each other, such as environments
side by side, there is a seed for each, [B, 2], and row b gets what seed b alone would give.
"""

import enum

from agents.system.lazy import tf


@enum.unique
class Purpose(enum.IntEnum):
    """What a run draws random numbers for; each purpose has a seed, see `seed_of_run`.

    Saved runs go on with the same numbers, so the values stand as they are. Environments
    and replay draw by numpy, from other streams: see `agents.episodes.environments`.
    """

    TRAIN = 0
    POLICY = 1
    COLLECT_POLICY = 2
    FILM = 3
    PROBE = 4
    CALIBRATE = 5
    SPREAD = 6  # of what draws predict of an episode
    RENEW = 7  # what a source of uncertainty knows of the replay


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
        seed: [2] or [B, 2], int32.
        number: [], any integer type; for seeds [B, 2] also [B], one for each.

    Returns:
        As `seed`, int32; the same on every device.

    Example:
        >>> seed = tf.constant([0, 1])
        >>> bool(tf.reduce_all(fold(seed, 2) == fold(seed, 2)))
        True
    """
    seed, number = tf.convert_to_tensor(seed), tf.cast(number, tf.int32)
    if seed.shape.rank == 2:
        numbers = tf.broadcast_to(number, seed.shape[:1])
        return _each(lambda row: fold(*row), (seed, numbers), tf.int32)
    return tf.random.experimental.stateless_fold_in(seed, number, alg="philox")


def split(seed, count):
    """`count` independent seeds, [count, 2]; of seeds [B, 2], [count, B, 2]."""
    seed = tf.convert_to_tensor(seed)
    if seed.shape.rank == 2:
        rows = _each(lambda row: split(row, count), seed, tf.int32)
        return tf.transpose(rows, [1, 0, 2])
    return tf.random.experimental.stateless_split(seed, count, alg="philox")


def normal(shape, seed):
    """Standard normal numbers, float32; without XLA the same on every device.

    Args:
        shape: of the result; with seeds [B, 2] its first axis is a multiple of B, of which
            each seed fills an equal part.
        seed: [2] or [B, 2].
    """
    return _draw(tf.random.stateless_normal, shape, seed)


def uniform(shape, seed):
    """Uniform numbers in [0, 1), float32; otherwise as `normal`."""
    return _draw(tf.random.stateless_uniform, shape, seed)


class SeedsOfDecision:
    """The seeds of one decision, [B, 2]: one for each environment.

    Saved runs go on with the same numbers, so the purposes stand as they are.

    Args:
        episode_seeds: [B, 2].
        decisions: of the episodes, counted from 0, [B].
    """

    _PURPOSES = ("observation", "filter", "plan", "noise", "proposals")

    def __init__(self, episode_seeds, decisions):
        self._of_episodes = episode_seeds
        self._of_decisions = fold(episode_seeds, decisions)

    def of(self, purpose):
        """For this decision."""
        return fold(self._of_decisions, self._PURPOSES.index(purpose))

    def of_episode(self, purpose):
        """For what goes on over a whole episode; its decisions have numbers from 0."""
        return fold(self._of_episodes, -1 - self._PURPOSES.index(purpose))

    def of_weights(self, redraw):
        """For a whole episode, or for this decision."""
        return self._of_episodes if redraw == "episode" else self._of_decisions


def _draw(distribution, shape, seed):
    seed = tf.convert_to_tensor(seed)
    if seed.shape.rank == 1:
        return distribution(shape, seed, alg="philox")
    size, *rest = tf.unstack(shape) if tf.is_tensor(shape) else shape
    part = [size // seed.shape[0], *rest]
    rows = _each(lambda row: distribution(part, row, alg="philox"), seed, tf.float32)
    return tf.reshape(rows, shape)


def _each(function, rows, dtype):
    """One loop for all rows: XLA takes seconds for each copy of a random operation."""
    if tf.nest.flatten(rows)[0].shape[0] == 1:
        return function(tf.nest.map_structure(lambda x: x[0], rows))[tf.newaxis]
    return tf.map_fn(function, rows, fn_output_signature=dtype)
