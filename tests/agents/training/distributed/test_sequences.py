"""Tests of agents.training.distributed.sequences, with a Reverb server in this process."""

import collections
import time

import numpy as np
import pytest
import reverb
import tensorflow as tf

from agents.training.distributed.sequences import TABLE, ReplayServer, SequenceWriter
from agents.training.distributed.server import open_server

SPECS = {
    "observation": tf.TensorSpec([2], tf.float32),
    "action": tf.TensorSpec([1], tf.float32),
    "reward": tf.TensorSpec([], tf.float32),
    "is_first": tf.TensorSpec([], tf.bool),
    "is_terminal": tf.TensorSpec([], tf.bool),
}


def drawn(address, batches=60):
    """Observations [sequences, T, 2] and is_first of many sequences."""
    dataset = ReplayServer(address, SPECS).dataset(batch_size=8, length=5)
    taken = list(dataset.take(batches).as_numpy_iterator())
    assert taken[0]["action"].shape == (8, 5, 1)
    keys = ("observation", "is_first")
    return [np.concatenate([batch[key] for batch in taken]) for key in keys]


def test_every_sequence_inside_an_episode_is_drawn_alike(serve, make_episode):
    address = serve()
    writer = SequenceWriter(reverb.Client(address), length=5)
    for number, rows in ((0, 11), (1, 10), (2, 13)):
        writer.insert(make_episode(number, rows), timeout=10)
    starts = [(n, row) for n, count in enumerate([7, 6, 9]) for row in range(count)]
    size = reverb.Client(address).server_info(timeout=5)[TABLE].current_size
    assert size == len(starts)
    seen, is_first = drawn(address)
    numbers, places = seen[..., 0], seen[..., 1]
    assert (numbers == numbers[:, :1]).all()
    np.testing.assert_array_equal(np.diff(places), 1.0)
    np.testing.assert_array_equal(is_first, places == 0)
    counts = collections.Counter(map(tuple, seen[:, 0].astype(int)))
    assert sorted(counts) == starts
    expected = len(seen) / len(starts)
    spread = np.sqrt(expected)  # of a count, nearly
    np.testing.assert_allclose(list(counts.values()), expected, atol=5 * spread)


def test_after_an_end_the_next_episode_begins(serve, make_episode):
    address = serve()
    writer = SequenceWriter(reverb.Client(address), length=5)
    ended = make_episode(0, 7)
    ended["is_terminal"][-1] = True
    writer.insert(ended, timeout=10)
    writer.insert(make_episode(1, 6), timeout=10)
    seen, is_first = drawn(address)
    starts = {tuple(start) for start in seen[:, 0].astype(int)}
    assert starts == {*((0, row) for row in range(7)), (1, 0), (1, 1)}
    np.testing.assert_array_equal(is_first, seen[..., 1] == 0)


def test_after_a_short_episode_the_next_one_begins(serve, make_episode):
    address = serve()
    writer = SequenceWriter(reverb.Client(address), length=5)
    for number, rows in ((0, 3), (1, 2), (2, 6)):
        writer.insert(make_episode(number, rows), timeout=10)
    seen, is_first = drawn(address)
    starts = {tuple(start) for start in seen[:, 0].astype(int)}
    assert starts == {(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (2, 0), (2, 1)}
    across = seen[(seen[:, 0] == [0, 1]).all(-1)][0]
    np.testing.assert_array_equal(across, [[0, 1], [0, 2], [1, 0], [1, 1], [2, 0]])
    np.testing.assert_array_equal(is_first, seen[..., 1] == 0)


def test_a_server_that_confirms_nothing_is_no_reason_to_hang(
    config, handover, make_episode
):
    server = open_server(config, handover)
    writer = SequenceWriter(reverb.Client(f"127.0.0.1:{server.port}"), length=5)
    server.stop()
    began = time.monotonic()
    with pytest.raises(TimeoutError, match="confirmed nothing in 0.5 s"):
        writer.insert(make_episode(0, 6), timeout=0.5)
    assert time.monotonic() - began < 5


def test_rows_are_counted_of_the_actor_that_has_most(make_episode):
    """A learner that began by the sum would wait for sequences, and actors for it."""
    replay = ReplayServer("127.0.0.1:1", SPECS, actors=2, environments=2)
    assert replay.num_rows == 0
    for number, rows in ((0, 7), (1, 3), (2, 8), (4, 1), (7, 2)):
        replay.add(make_episode(number, rows))
    assert replay.num_rows == 7 + 3 + 1
