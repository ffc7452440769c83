"""Sequences of the replay server: how episodes become its items, and items batches.

Each sequence of T rows inside an episode is an item, so that to draw an item at random is
to draw an episode by its length and a start in it. Where an episode is shorter than 2 T, or
the task ended it, a sequence that starts in it goes on with the episodes that the same
process inserts next; see `agents.episodes.replay.Replay`.
"""

import collections

import numpy as np
import reverb
import tensorflow as tf

from agents.episodes.replay import SEQUENCE_KEYS, goes_on

TABLE = "sequences"


class SequenceWriter:
    """Inserts episodes.

    Args:
        client: `reverb.Client`.
        length: T.
    """

    def __init__(self, client, length):
        self._writer = client.trajectory_writer(num_keep_alive_refs=length)
        self._length = length
        self._starts = collections.deque(maxlen=length)  # of the last rows, see `_is_item`
        self._episodes = 0

    def insert(self, episode, timeout=None):
        """Inserts all sequences that end in an episode.

        Args:
            episode: see `agents.episodes.layout`.
            timeout: seconds; None: for ever.

        Raises:
            TimeoutError: the server did not confirm them in time.
        """
        start = (self._episodes, goes_on(episode, self._length))
        self._episodes += 1
        for row in range(len(episode["reward"])):
            self._writer.append(
                {key: np.asarray(episode[key][row]) for key in SEQUENCE_KEYS}
            )
            self._starts.append(start)
            if self._is_item():
                trajectory = {
                    key: self._writer.history[key][-self._length :] for key in SEQUENCE_KEYS
                }
                self._writer.create_item(TABLE, priority=1.0, trajectory=trajectory)
        try:
            self._writer.flush(timeout_ms=None if timeout is None else int(1000 * timeout))
        except reverb.errors.DeadlineExceededError as error:
            raise TimeoutError(
                f"the replay server confirmed nothing in {timeout:g} s"
            ) from error

    def _is_item(self):
        if len(self._starts) < self._length:
            return False
        episode, leaves_it = self._starts[0]
        return leaves_it or episode == self._starts[-1][0]


class ReplayServer:
    """Stands where `agents.episodes.replay.Replay` does: batches come from the server.

    Args:
        address: of the server.
        specs: dict of key -> `tf.TensorSpec` of a row, see `row_specs`.
        actors: that insert.
        environments: of each of them.
    """

    def __init__(self, address, specs, actors=1, environments=1):
        self._address = address
        self._specs = specs
        self._actors, self._environments = actors, environments
        self._rows = collections.Counter()

    @property
    def num_rows(self):
        """The most that one actor has inserted: no sequence goes on from one to another."""
        return max(self._rows.values(), default=0)

    def add(self, episode):
        """Counts an episode, which its actor has inserted."""
        actor = int(episode["number"]) // self._environments % self._actors
        self._rows[actor] += len(episode["reward"])

    def dataset(self, batch_size, length, **_):
        """Batches without end; which ones, no seed decides.

        Args:
            batch_size: B.
            length: T, of the server's sequences.

        Returns:
            A `tf.data.Dataset` as `Replay.dataset` gives it.
        """
        dataset = reverb.TrajectoryDataset(
            server_address=self._address,
            table=TABLE,
            dtypes={key: self._specs[key].dtype for key in SEQUENCE_KEYS},
            shapes={
                key: tf.TensorShape([length, *self._specs[key].shape])
                for key in SEQUENCE_KEYS
            },
            max_in_flight_samples_per_worker=2 * batch_size,
        )
        dataset = dataset.map(lambda sample: dict(sample.data))
        return dataset.batch(batch_size, drop_remainder=True).prefetch(1)


def row_specs(environment):
    """Dict of key -> `tf.TensorSpec` of a row of an environment's episodes."""
    seen = environment.observation_spec()["observation"]
    action = environment.action_spec()
    return {
        "observation": tf.TensorSpec(seen.shape, seen.dtype),
        "action": tf.TensorSpec(action.shape, tf.float32),
        "reward": tf.TensorSpec([], tf.float32),
        "is_first": tf.TensorSpec([], tf.bool),
        "is_terminal": tf.TensorSpec([], tf.bool),
    }
