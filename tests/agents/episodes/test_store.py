"""Tests of agents.episodes.store."""

import errno
import logging
import os
import random
import signal
import subprocess
import sys
import time
import zipfile

import numpy as np
import pytest

from agents.episodes.layout import KEYS, check_episode
from agents.episodes.store import EpisodeStore
from agents.system.errors import UserError


def make_episode(rows=4, value=0.0):
    return {
        "observation": np.full([rows, 3], value, np.float32),
        "action": np.full([rows, 2], value, np.float32),
        "reward": np.arange(rows, dtype=np.float32),
        "is_first": np.arange(rows) == 0,
        "is_terminal": np.zeros(rows, bool),
        "position": np.zeros([rows, 1], np.float32),
        "velocity": np.zeros([rows, 1], np.float32),
    }


def test_reads_back_what_was_written(tmp_path):
    episode = make_episode(value=3.0)
    episode["observation"] = np.arange(4 * 12, dtype=np.uint8).reshape(4, 2, 2, 3)
    assert EpisodeStore(tmp_path).append(episode) == 0
    ((index, again),) = EpisodeStore(tmp_path)
    assert index == 0
    assert again["observation"].dtype == np.uint8
    for key in KEYS:
        np.testing.assert_array_equal(again[key], episode[key])


def test_numbering_goes_on_after_a_restart(tmp_path):
    store = EpisodeStore(tmp_path)
    assert [store.append(make_episode()) for _ in range(3)] == [0, 1, 2]
    assert EpisodeStore(tmp_path).append(make_episode()) == 3
    assert (tmp_path / "000003.npz").exists()


@pytest.mark.parametrize(
    "damage", ["truncated", "text", "lacks", "shape", "flipped", "npy"]
)
def test_damaged_file_is_named_moved_and_survived(tmp_path, caplog, damage):
    store = EpisodeStore(tmp_path)
    for value in range(3):
        store.append(make_episode(value=value))
    file = tmp_path / "000002.npz"
    whole = file.read_bytes()
    if damage == "truncated":
        file.write_bytes(whole[: len(whole) // 2])
    elif damage == "text":
        file.write_text("not a zip")
    elif damage == "lacks":
        np.savez(file, action=np.zeros(3))
    elif damage == "shape":
        np.savez(file, **(make_episode() | {"reward": np.zeros(9)}))
    elif damage == "npy":
        file.write_bytes(b"")
        with file.open("wb") as handle:
            np.save(handle, np.zeros(3))
    else:
        start = zipfile.ZipFile(file).infolist()[1].header_offset + 60
        file.write_bytes(whole[:start] + bytes(20) + whole[start + 20 :])
    with caplog.at_level(logging.WARNING):
        store = EpisodeStore(tmp_path)
    (record,) = caplog.records
    assert "000002.npz is damaged" in record.getMessage()
    assert "\n" not in record.getMessage()
    assert (tmp_path / "damaged" / "000002.npz").exists()
    assert store.indices == [0, 1]
    with pytest.raises(KeyError, match="no episode 2"):
        store.read(2)
    assert EpisodeStore(tmp_path).append(make_episode()) == 3, "a number was used twice"


def test_an_error_of_the_system_is_no_damage(tmp_path, monkeypatch):
    store = EpisodeStore(tmp_path)
    for value in range(2):
        store.append(make_episode(value=value))

    def fail(file):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with monkeypatch.context() as patch:
        patch.setattr("pathlib.Path.read_bytes", fail)
        with pytest.raises(UserError) as error:
            EpisodeStore(tmp_path)
    assert str(error.value) == (
        f"episode {tmp_path / '000000.npz'} cannot be read now (Input/output error); "
        "the same command tries again"
    )
    assert EpisodeStore(tmp_path).indices == [0, 1]


def test_leftover_temporary_files_are_swept(tmp_path):
    (tmp_path / ".000000.npz.4194305.tmp").write_bytes(b"half")
    store = EpisodeStore(tmp_path)
    assert store.indices == []
    assert not list(tmp_path.iterdir())


def test_failed_write_leaves_nothing(tmp_path, monkeypatch):
    store = EpisodeStore(tmp_path)

    def fail(_):
        raise OSError("No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail)
        with pytest.raises(OSError, match="No space"):
            store.append(make_episode())
    assert not list(tmp_path.iterdir())
    assert ([*store.indices], store.append(make_episode())) == ([], 0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"reward": np.zeros(3)}, "equally many rows"),
        ({"action": np.zeros(4)}, "action of rank 2"),
        ({"is_first": np.ones(4, bool)}, "is_first true in its first row alone"),
    ],
)
def test_wrong_layout_is_an_error(tmp_path, change, message):
    with pytest.raises(ValueError, match=message):
        EpisodeStore(tmp_path).append(make_episode() | change)
    assert not list(tmp_path.iterdir())


WRITER = """
import sys
import numpy as np
from agents.episodes.store import EpisodeStore
store = EpisodeStore(sys.argv[1])
random = np.random.default_rng(0)
while True:
    index = store.append({
        "observation": random.integers(0, 255, [60, 16, 16, 3], dtype=np.uint8),
        "action": np.zeros([60, 2], np.float32),
        "reward": np.zeros(60, np.float32),
        "is_first": np.arange(60) == 0,
        "is_terminal": np.zeros(60, bool),
        "position": np.zeros([60, 1], np.float32),
        "velocity": np.zeros([60, 1], np.float32),
    })
    print(index, flush=True)
"""


@pytest.mark.slow
def test_every_acknowledged_episode_survives_kill_9(tmp_path):
    delays = random.Random(0)
    acknowledged = []
    for _ in range(8):
        process = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        first = process.stdout.readline()
        time.sleep(delays.uniform(0, 0.2))
        process.send_signal(signal.SIGKILL)
        rest, errors = process.communicate()
        assert not errors
        # the kill may cut the last line; a number without its end is no promise
        lines = [
            line for line in (first + rest).splitlines(keepends=True) if line[-1] == "\n"
        ]
        acknowledged += map(int, lines)
    store = EpisodeStore(tmp_path)
    assert len(acknowledged) == len(set(acknowledged)), "a number was used twice"
    assert set(acknowledged) <= set(store.indices)
    assert len(store.indices) <= len(acknowledged) + 8
    assert not (tmp_path / "damaged").exists()
    assert not list(tmp_path.glob(".*"))
    for _, episode in store:
        check_episode(episode)


@pytest.fixture
def store(tmp_path):
    """A store of the episodes 0, 1, 3 and 5 of a sequence, in the order they ended in."""
    store = EpisodeStore(tmp_path)
    for number in (1, 3, 0, 5):
        numbers = {"number": np.int64(number), "environment_steps": np.int64(7)}
        store.append(make_episode() | numbers)
    return store


def test_numbers_of_episodes_are_kept(store, tmp_path):
    for opened in (store, EpisodeStore(tmp_path)):
        assert [found["number"] for _, found in opened] == [1, 3, 0, 5]
        assert [found["environment_steps"] for _, found in opened] == [7] * 4


def test_each_environment_goes_on_after_its_own_last_episode(store, tmp_path):
    for opened in (store, EpisodeStore(tmp_path)):
        assert opened.next_numbers(2) == [2, 7]
        assert opened.next_numbers(1) == [6]
        assert opened.next_numbers(4) == [4, 9, 2, 7]


def test_files_of_earlier_versions_are_numbered_by_their_names(tmp_path):
    store = EpisodeStore(tmp_path)
    for _ in range(3):
        store.append(make_episode())
    opened = EpisodeStore(tmp_path)
    assert opened.next_numbers(1) == [3]
    assert opened.next_numbers(2) == [4, 3]
    assert "number" not in opened.read(0)


def test_the_number_of_a_damaged_file_is_not_used_again(store, tmp_path):
    (tmp_path / "000003.npz").write_bytes(b"half")
    assert EpisodeStore(tmp_path).indices == [0, 1, 2]
    assert EpisodeStore(tmp_path).next_numbers(1) == [4]


def test_an_episode_that_is_gone_is_named(store, tmp_path, caplog):
    (tmp_path / "000001.npz").unlink()
    with caplog.at_level(logging.WARNING):
        again = EpisodeStore(tmp_path)
    assert "lacks episode 1; the run goes on without" in caplog.text
    assert again.indices == [0, 2, 3]
    assert again.append(make_episode()) == 4, "an episode was overwritten"
