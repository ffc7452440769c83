"""Tests of agents.episodes.replay."""

import time

import numpy as np
import pytest
from scipy import stats

from agents.episodes.replay import Replay


def make_episode(rows, number=0):
    """Observes (episode, row); action and reward are functions of both."""
    row = np.arange(rows, dtype=np.float32)
    return {
        "observation": np.stack([np.full(rows, number, np.float32), row], axis=1),
        "action": (100 * number + row)[:, None],
        "reward": 1000 * number + row,
        "is_first": row == 0,
        "is_terminal": (row == rows - 1) & (number % 2 == 0),
        "position": np.zeros([rows, 1], np.float32),
        "velocity": np.zeros([rows, 1], np.float32),
    }


def make_replay(*rows, capacity=10_000, ended=True):
    """The task ended every second episode, or none."""
    replay = Replay(capacity)
    for number, count in enumerate(rows):
        episode = make_episode(count, number)
        episode["is_terminal"] &= ended
        replay.add(episode)
    return replay


def test_batch_has_the_shapes_and_types_of_the_contract():
    batch = make_replay(9, 9).sample(batch_size=3, length=4, seed=0)
    assert {key: (value.shape, value.dtype.name) for key, value in batch.items()} == {
        "observation": ((3, 4, 2), "float32"),
        "action": ((3, 4, 1), "float32"),
        "reward": ((3, 4), "float32"),
        "is_first": ((3, 4), "bool"),
        "is_terminal": ((3, 4), "bool"),
    }


def test_images_beside_the_observation_are_of_the_same_rows():
    replay = Replay(100)
    for number in range(3):
        row = np.arange(9, dtype=np.uint8)
        image = np.broadcast_to((20 * number + row)[:, None, None, None], [9, 4, 4, 1])
        replay.add(make_episode(9, number) | {"image_front": image})
    batch = replay.sample(5, 6, seed=0)
    seen = 20 * batch["observation"][..., 0] + batch["observation"][..., 1]
    assert batch["image_front"].dtype == np.uint8
    np.testing.assert_array_equal(batch["image_front"][..., 0, 0, 0], seen)
    with pytest.raises(ValueError, match="does not fit a replay"):
        replay.add(make_episode(5))


def test_images_stay_bytes():
    replay = Replay(100)
    replay.add(make_episode(5) | {"observation": np.zeros([5, 8, 8, 3], np.uint8)})
    assert replay.sample(2, 3, seed=0)["observation"].dtype == np.uint8


def test_rows_of_a_sequence_belong_together():
    batch = make_replay(12, 20, 15).sample(batch_size=200, length=6, seed=1)
    episode, row = np.moveaxis(batch["observation"], -1, 0)
    np.testing.assert_array_equal(batch["action"][..., 0], 100 * episode + row)
    np.testing.assert_array_equal(batch["reward"], 1000 * episode + row)
    np.testing.assert_array_equal(batch["is_first"], row == 0)
    last = np.array([11, 19, 14])[episode.astype(int)]
    np.testing.assert_array_equal(batch["is_terminal"], (row == last) & (episode % 2 == 0))
    assert batch["is_terminal"].any()
    goes_on = (np.diff(row) == 1) & (np.diff(episode) == 0)
    np.testing.assert_array_equal(~goes_on, batch["is_first"][:, 1:])
    long = episode[:, 0] == 1  # the task did not end it
    assert goes_on[long].all(), "a long episode was left"


def test_starts_are_uniform_over_all_rows_in_which_one_can_start():
    batch = make_replay(16, 40, ended=False).sample(batch_size=20_000, length=8, seed=0)
    episode, row = np.moveaxis(batch["observation"][:, 0], -1, 0)
    starts, counts = np.unique(100 * episode + row, return_counts=True)
    can_start = [*range(16 - 8 + 1), *range(100, 100 + 40 - 8 + 1)]
    np.testing.assert_array_equal(starts, can_start)
    assert stats.chisquare(counts).pvalue > 0.01


def test_a_step_counts_alike_in_short_and_long_episodes():
    falls, long, sequences, length = 100, 10, 20_000, 32
    replay = Replay(100_000)
    for number in range(falls + long):
        episode = make_episode(20 if number < falls else 1000, number)
        replay.add(episode | {"is_terminal": np.zeros_like(episode["is_first"])})
    batch = replay.sample(sequences, length, seed=0)
    share = np.mean(batch["observation"][..., 0] >= falls, axis=1)
    # a start in a fall goes on with a fall but for 10 of 110 times
    starts = falls * 20, long * (1000 - length + 1)
    in_long = starts[1] / sum(starts)
    assert share.mean() == pytest.approx(in_long, abs=0.02)
    assert share[share < 1].mean() < 0.1


def test_starts_follow_what_comes_and_goes():
    replay = make_replay(5, capacity=30)
    for number, rows in ((1, 9), (2, 20)):
        replay.sample(4, 3, seed=0)
        replay.add(make_episode(rows, number))
    batch = replay.sample(batch_size=500, length=3, seed=1)
    assert set(batch["observation"][:, 0, 0]) == {1, 2}  # the first has left


def test_an_end_is_met_as_often_as_any_other_row_and_at_any_place():
    batches, rows, length = 20_000, 40, 8
    batch = make_replay(rows).sample(batches, length, seed=0)
    expected = batches * length / rows
    counts = np.bincount(batch["observation"][..., 1].astype(int).ravel())
    np.testing.assert_allclose(counts[length - 1 :], expected, atol=5 * expected**0.5)
    places = batch["is_terminal"].sum(axis=0)
    np.testing.assert_allclose(
        places, expected / length, atol=5 * (expected / length) ** 0.5
    )


def test_no_boundary_is_crossed_unseen():
    batch = make_replay(3, 4, 9).sample(batch_size=500, length=8, seed=2)
    episode, row = np.moveaxis(batch["observation"], -1, 0)
    goes_on = (np.diff(row) == 1) & (np.diff(episode) == 0)
    np.testing.assert_array_equal(goes_on, ~batch["is_first"][:, 1:])
    assert (row[batch["is_first"]] == 0).all()
    assert (~goes_on).any(), "the test met no boundary"
    assert set(row[:, 0][episode[:, 0] == 0]) == {0, 1, 2}


@pytest.mark.parametrize(("rows", "starts"), [(5, 5), (9, 9), (10, 6)])
def test_of_less_than_two_sequences_all_rows_are_starts(rows, starts):
    batch = make_replay(rows, ended=False).sample(batch_size=200, length=5, seed=0)
    assert set(batch["observation"][:, 0, 1]) == set(range(starts))
    assert batch["is_first"][:, 1:].any() == (starts == rows)


def test_equal_seeds_give_equal_batches():
    replay = make_replay(30, 40)
    first, again, other = (replay.sample(8, 5, seed) for seed in ([1, 2], [1, 2], [1, 3]))
    for key in first:
        np.testing.assert_array_equal(first[key], again[key])
    assert (first["reward"] != other["reward"]).any()


def test_batch_k_depends_on_seed_and_number_only():
    replay = make_replay(30, 40)
    whole = list(replay.dataset(4, 5, seed=3).take(6).as_numpy_iterator())
    resumed = list(replay.dataset(4, 5, seed=3, first_batch=4).take(2).as_numpy_iterator())
    for expected, batch in zip(whole[4:], resumed, strict=True):
        for key in batch:
            np.testing.assert_array_equal(batch[key], expected[key])
    np.testing.assert_array_equal(whole[5]["reward"], replay.sample(4, 5, [3, 5])["reward"])
    assert (whole[0]["reward"] != whole[1]["reward"]).any()


def test_dataset_sees_episodes_added_since():
    replay = make_replay(10)
    batches = iter(replay.dataset(50, 5, seed=0))
    assert set(next(batches)["observation"][:, 0, 0].numpy()) == {0}
    replay.add(make_episode(10, number=1))
    assert set(next(batches)["observation"][:, 0, 0].numpy()) == {0, 1}


def test_batches_are_drawn_ahead_up_to_a_number_and_not_beyond():
    replay, drawn, until = make_replay(10), [], [3]
    sample = replay.sample

    def noted(size, length, seed):
        drawn.append(seed[-1])
        return sample(size, length, seed)

    replay.sample = noted
    batches = iter(replay.dataset(50, 5, seed=0, until=lambda: until[0]))
    next(batches)
    deadline = time.monotonic() + 10
    while len(drawn) < 3 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert drawn == [0, 1, 2], "nothing was drawn in the background"
    next(batches), next(batches)
    replay.add(make_episode(10, number=1))
    time.sleep(0.05)
    assert drawn == [0, 1, 2], "the next phase was drawn from old contents"
    until[0] = 5
    found = [set(next(batches)["observation"][:, 0, 0].numpy()) for _ in range(3)]
    assert found == 3 * [{0, 1}]
    assert drawn == list(range(6))  # where nothing is said of batch 5, it is drawn alone


def test_batches_drawn_ahead_are_those_drawn_one_by_one():
    replay = make_replay(30, 40)
    ahead = iter(replay.dataset(4, 5, seed=3, first_batch=2, until=lambda: 6))
    for number in range(2, 8):
        expected, batch = replay.sample(4, 5, [3, number]), next(ahead)
        for key in expected:
            np.testing.assert_array_equal(batch[key], expected[key])


def test_dataset_has_static_shapes():
    spec = make_replay(10).dataset(4, 5, seed=0).element_spec
    assert spec["observation"].shape == [4, 5, 2]
    assert spec["is_first"].dtype.name == "bool"


def test_oldest_episodes_leave_a_full_replay():
    replay = make_replay(11, 11, 11, capacity=25)
    assert (replay.num_episodes, replay.num_steps, replay.num_rows) == (2, 20, 22)
    batch = replay.sample(100, 5, seed=0)
    assert set(batch["observation"][:, 0, 0]) == {1, 2}


def test_a_replay_may_be_full_to_the_last_step():
    assert make_replay(11, 11, capacity=20).num_steps == 20
    assert make_replay(11, 11, capacity=19).num_steps == 10


def test_newest_episode_stays_whatever_the_capacity():
    replay = make_replay(11, 31, capacity=25)
    assert (replay.num_episodes, replay.num_steps) == (1, 30)


@pytest.mark.parametrize("draw", ["sample", "dataset"])
@pytest.mark.parametrize(("rows", "count"), [((5, 5), 10), ((), 0)])
def test_more_rows_than_there_are_is_an_error(draw, rows, count):
    message = f"length 11 are longer than all data, {count} rows"
    with pytest.raises(ValueError, match=message):
        getattr(make_replay(*rows), draw)(2, 11, seed=0)


def test_episode_of_another_shape_is_an_error():
    replay = make_replay(5)
    with pytest.raises(ValueError, match="does not fit a replay of"):
        replay.add(make_episode(5) | {"observation": np.zeros([5, 9], np.float32)})
