"""Tests of agents.planet.value.targets, by hand."""

import math

import numpy as np
import pytest
import tensorflow as tf

from agents.episodes.replay import Replay
from agents.planet.value.targets import Rows, n_step_targets

REWARD = [9.0, 1.0, 2.0, 3.0, 4.0]  # the first led to row 0 and stands in no target
VALUES = [10.0, 20.0, 30.0, 40.0]


def targets(steps, stride=1, terminal=(), first=(), reward=REWARD):
    """Targets and weights of one sequence, the discount being a half."""
    rows = np.arange(len(reward))
    batch = {
        "is_terminal": tf.constant(np.isin(rows, terminal)[None]),
        "is_first": tf.constant(np.isin(rows, [0, *first])[None]),
    }
    values = tf.constant([VALUES[: len(reward) - steps : stride]])
    reward = tf.constant([reward])
    learned = Rows(steps, stride)
    rewards = [learned.after(reward, count) for count in range(1, steps + 1)]
    found = n_step_targets(batch, rewards, values, 0.5, learned)
    return [each[0].numpy().tolist() for each in found]


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        (1, [1 + 5, 2 + 10, 3 + 15, 4 + 20]),
        (2, [1 + 1 + 2.5, 2 + 1.5 + 5, 3 + 2 + 7.5]),
        (3, [1 + 1 + 0.75 + 1.25, 2 + 1.5 + 1 + 2.5]),
    ],
)
def test_targets_are_discounted_rewards_and_the_value_after_them(steps, expected):
    assert targets(steps) == [expected, [1.0] * len(expected)]
    every_second = [*expected[:2:2], *expected[2::2]]
    assert targets(steps, stride=2) == [every_second, [1.0] * len(every_second)]


@pytest.mark.parametrize(
    ("steps", "expected", "weights"),
    [  # row 2 is the last of its episode, row 3 the first of another
        (1, [1 + 5, 2, None, 4 + 20], [1, 1, 0, 1]),
        (2, [1 + 1, 2, None], [1, 1, 0]),
        (3, [1 + 1, 2], [1, 1]),
    ],
)
@pytest.mark.parametrize("stride", [1, 2])
def test_nothing_comes_after_an_episode_that_ended(steps, stride, expected, weights):
    found, told = targets(steps, stride, terminal=[2], first=[3])
    assert told == weights[::stride]
    for value, by_hand in zip(found, expected[::stride], strict=True):
        assert by_hand is None or value == by_hand


@pytest.mark.parametrize(
    ("steps", "expected", "weights"),
    [
        (1, [1 + 5, 2 + 10, None, 4 + 20], [1, 1, 0, 1]),
        (2, [1 + 1 + 2.5, None, None], [1, 0, 0]),
        (3, [None, None], [0, 0]),
    ],
)
@pytest.mark.parametrize("stride", [1, 2])
def test_a_time_limit_cuts_no_value_and_no_target_crosses_it(
    steps, stride, expected, weights
):
    found, told = targets(steps, stride, first=[3])
    assert told == weights[::stride]
    for value, by_hand in zip(found, expected[::stride], strict=True):
        assert by_hand is None or value == by_hand


def test_sequences_of_a_batch_do_not_mix():
    batch = {
        "is_terminal": tf.constant([[False, True, False], [False, False, False]]),
        "is_first": tf.constant([[True, False, True], [False, False, False]]),
    }
    reward, values = tf.constant([[1.0, 2], [3, 4]]), tf.constant([[8.0, 8], [8, 8]])
    found, weights = n_step_targets(batch, [reward], values, 0.5, Rows(1))
    np.testing.assert_array_equal(found, [[1.0, 6.0], [7.0, 8.0]])
    np.testing.assert_array_equal(weights, [[1.0, 0.0], [1.0, 1.0]])


@pytest.mark.parametrize(
    ("count", "steps", "stride", "rows"),
    [(0, 2, 1, [0, 1, 2]), (2, 2, 1, [2, 3, 4]), (1, 1, 2, [1, 3]), (3, 3, 2, [3])],
)
def test_rows_ahead_are_those_of_the_steps_with_a_target(count, steps, stride, rows):
    tensor = tf.reshape(tf.range(10), [1, 5, 2])
    found = Rows(steps, stride).after(tensor, count)
    np.testing.assert_array_equal(found[0], [[2 * row, 2 * row + 1] for row in rows])


def test_every_second_sequence_ends_with_the_last_row_that_has_a_target():
    tensor = tf.reshape(tf.range(24), [3, 8])
    early, late, again = Rows(1, 4).after(tensor, 1).numpy().tolist()
    assert (early, late, again) == ([1, 5], [8 + 3, 8 + 7], [16 + 1, 16 + 5])


@pytest.mark.parametrize("length", [3, 6, 9, 32])
@pytest.mark.parametrize(("steps", "stride"), [(1, 4), (2, 3), (1, 1)])
def test_updates_of_a_step_share_its_rows(length, steps, stride):
    """Each row that has a target is in one of them, from the front and the end alike."""
    tensor = tf.tile(tf.range(length)[tf.newaxis], [3, 1])
    last = length - steps - 1
    found = [Rows(steps, stride, first).after(tensor, 0).numpy() for first in range(stride)]
    assert {row for each in found for row in each[0]} == set(range(last + 1))
    for early, late, again in found:
        assert len(early) == math.ceil((length - steps) / stride)
        np.testing.assert_array_equal(late, last - early[::-1])
        np.testing.assert_array_equal(again, early)


@pytest.mark.parametrize("decisions", [31, 33, 62, 63, 200])
@pytest.mark.parametrize(("steps", "stride"), [(1, 4), (1, 1), (3, 4)])
def test_critics_learn_from_all_decisions_but_the_last_of_n_steps(decisions, steps, stride):
    rows, length = np.arange(decisions + 1), 32
    replay = Replay(1000)
    replay.add(
        {
            "observation": rows[:, np.newaxis].astype(np.float32),
            "action": np.zeros([len(rows), 1]),
            "reward": np.zeros(len(rows)),
            "is_first": rows == 0,
            "is_terminal": np.zeros(len(rows), bool),
            **dict.fromkeys(["position", "velocity"], np.zeros([len(rows), 1])),
        }
    )
    batch = {key: tf.constant(x) for key, x in replay.sample(2000, length, 0).items()}
    learned = learned_from(batch, Rows(steps, stride))
    assert learned == set(range(decisions - (steps - 1)))


def learned_from(batch, rows):
    """The observations of all steps of a batch that count in a loss of these rows."""
    here = rows.after(batch["observation"], 0)[..., 0]
    zero = tf.zeros(here.shape)
    _, weights = n_step_targets(batch, [zero] * rows.steps, zero, 0.99, rows)
    return set(here[weights > 0].numpy())
