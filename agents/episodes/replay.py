"""Replay: whole episodes in, batches of sequences out; which episodes are held out."""

import collections

import numpy as np
import tensorflow as tf

from agents.episodes.layout import seen_in

_AHEAD = 2  # batches drawn while a gradient step is taken


def is_held_out(episode, every):
    """Whether a collected episode is one of those that its run is never trained on.

    Of each `every` in the sequence of the run's seed it is the last, so that the very first
    is not among them.

    `every` is `hold_out_every` of the run's config; None: none is held out.

    Example:
        >>> [number for number in range(7) if is_held_out({"number": number}, every=3)]
        [2, 5]
    """
    return every is not None and int(episode["number"]) % every == every - 1


class Replay:
    """The newest episodes in memory, sampled as sequences.

    A sequence starts in a row that is drawn uniformly from all in which one can start, so
    that each step of a long episode counts as much as one of a short episode, and stays
    inside its episode. Where the episode is shorter than two sequences, it starts at any of
    its rows and goes on with the start of another episode; `is_first` is true there, so
    that no boundary is crossed unseen. Inside of it there would be few offsets, and
    critics, which learn from rows of a sequence that are a stride apart, would never meet
    most of its decisions. So it does where the task ended the episode: inside of it the end
    would stand in the last row of one sequence alone, and be met T times less often than
    what comes before. What goes on is any episode, each as likely, as if all stood one
    after another in random order: so rows of short episodes, too, are met equally often.

    Source: Hafner et al., 2019, Learning Latent Dynamics for Planning from Pixels
    (PlaNet), where all episodes are equally long: one chunk at a random offset from each
    sampled episode.

    Args:
        capacity: agent steps to hold; beyond it the oldest episodes leave.

    Attributes:
        num_steps: agent steps held; an episode of T + 1 rows has T.

    Example:
        >>> from agents.episodes.layout import KEYS
        >>> episode = {key: np.zeros([5, 2], np.float32) for key in KEYS}
        >>> for key in ("reward", "is_first", "is_terminal"):
        ...     episode[key] = np.arange(5) == 0
        >>> replay = Replay(capacity=1000)
        >>> replay.add(episode)
        >>> batch = replay.sample(batch_size=3, length=4, seed=0)
        >>> {key: value.shape for key, value in batch.items() if key[:2] != "is"}
        {'observation': (3, 4, 2), 'action': (3, 4, 2), 'reward': (3, 4)}
    """

    def __init__(self, capacity):
        self._capacity = capacity
        self._episodes = collections.deque()
        self._counted = self._summed = None  # starts of sequences of a length
        self.num_steps = 0

    @property
    def num_episodes(self):
        return len(self._episodes)

    @property
    def num_rows(self):
        """The longest sequence that can be sampled."""
        return self.num_steps + self.num_episodes

    def add(self, episode):
        """Takes an episode, whose arrays are not copied.

        Raises:
            ValueError: shapes or types differ from those held.
        """
        seen = {key: np.asarray(array) for key, array in seen_in(episode).items()}
        episode = seen | {
            "action": np.asarray(episode["action"], np.float32),
            "reward": np.asarray(episode["reward"], np.float32),
            "is_first": np.asarray(episode["is_first"], bool),
            "is_terminal": np.asarray(episode["is_terminal"], bool),
        }
        if self._episodes and _spec(episode) != _spec(self._episodes[0]):
            raise ValueError(
                f"episode of {_spec(episode)} does not fit a replay of "
                f"{_spec(self._episodes[0])}"
            )
        self._episodes.append(episode)
        self._counted = None
        self.num_steps += _rows(episode) - 1
        while self.num_steps > self._capacity and len(self._episodes) > 1:
            self.num_steps -= _rows(self._episodes.popleft()) - 1

    def sample(self, batch_size, length, seed):
        """Draws a batch that depends on nothing but the seed and the episodes held.

        Args:
            batch_size: number of sequences, B.
            length: rows of each sequence, T.
            seed: int or sequence of ints, none negative.

        Returns:
            A dict: observation [B, T, ...] and images beside it, action [B, T, A];
            reward, is_first and is_terminal [B, T].

        Raises:
            ValueError: the replay holds fewer than `length` rows.
        """
        self._check(length)
        random = np.random.default_rng(seed)
        batch = {
            key: np.empty([batch_size, length, *shape], kind)
            for key, (shape, kind) in _spec(self._episodes[0]).items()
        }
        starts = random.integers(self._starts(length)[-1], size=batch_size)
        for sequence, start in enumerate(starts):
            index, offset = self._place(start, length)
            row = 0
            while row < length:
                if row:  # goes on where another episode begins
                    index, offset = random.integers(len(self._episodes)), 0
                episode = self._episodes[index]
                count = min(_rows(episode) - offset, length - row)
                rows = slice(offset, offset + count)
                for key in batch:
                    batch[key][sequence, row : row + count] = episode[key][rows]
                row += count
        return batch

    def dataset(self, batch_size, length, seed, first_batch=0, until=None):
        """A `tf.data.Dataset` of batches without end, as `sample` returns them.

        Batch k is `sample(batch_size, length, [seed, first_batch + k])`, so a run that
        resumes at train step n with `first_batch=n` sees the batches that it would have
        seen without the interruption.

        Where `until` is given, it says, when a batch is asked for, before which number the
        replay holds the same episodes; those batches are drawn in the background.
        """
        self._check(length)
        signature = {
            key: tf.TensorSpec([batch_size, length, *shape], kind)
            for key, (shape, kind) in _spec(self._episodes[0]).items()
        }

        def spans():
            number = first_batch
            while True:
                end = max(number + 1, until() if until else 0)
                yield number, end
                number = end

        def draw(number):
            return tuple(self.sample(batch_size, length, [seed, int(number)]).values())

        def batch(number):
            tensors = tf.numpy_function(
                draw, [number], [spec.dtype for spec in signature.values()]
            )
            pairs = zip(signature.items(), tensors, strict=True)
            return {
                key: tf.ensure_shape(tensor, spec.shape) for (key, spec), tensor in pairs
            }

        def batches(first, end):
            return tf.data.Dataset.range(first, end).map(batch).prefetch(_AHEAD)

        # TensorFlow puts a prefetch after any data set, which would draw from old contents
        options = tf.data.Options()
        options.experimental_optimization.inject_prefetch = False
        number = tf.TensorSpec([], tf.int64)
        dataset = tf.data.Dataset.from_generator(spans, output_signature=(number, number))
        return dataset.flat_map(batches).with_options(options)

    def _starts(self, length):
        """In how many rows a sequence can start, summed up to each episode."""
        if self._counted != length:
            self._counted = length
            self._summed = np.cumsum([_starts(each, length) for each in self._episodes])
        return self._summed

    def _place(self, start, length):
        """Index of an episode and row in it, of the start of this number."""
        summed = self._starts(length)
        index = int(np.searchsorted(summed, start, side="right"))
        return index, int(start - (summed[index - 1] if index else 0))

    def _check(self, length):
        if length > self.num_rows:
            raise ValueError(
                f"sequences of length {length} are longer than all data, {self.num_rows} "
                "rows; collect more episodes or lower sequence_length"
            )


def goes_on(episode, length):
    """Whether sequences of `length` rows start in all its rows and go on after its last."""
    return _rows(episode) < 2 * length or bool(episode["is_terminal"][-1])


def _rows(episode):
    return len(episode["reward"])


def _starts(episode, length):
    """In how many rows of an episode a sequence of `length` rows can start."""
    rows = _rows(episode)
    return rows if goes_on(episode, length) else rows - length + 1


def _spec(episode):
    return {key: (array.shape[1:], array.dtype) for key, array in episode.items()}
