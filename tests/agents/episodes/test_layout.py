"""Tests of agents.episodes.layout and agents.files."""

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
from tf_agents.drivers import py_driver
from tf_agents.environments import batched_py_environment, py_environment
from tf_agents.policies import random_py_policy
from tf_agents.specs import array_spec
from tf_agents.trajectories import time_step as ts

from agents.episodes.layout import KEYS, EpisodeWriter, check_episode
from agents.episodes.store import EpisodeStore
from agents.files import replacing


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


class Counter(py_environment.PyEnvironment):
    """Observes (name, episode, time); the reward for action a at time t is 10 t + a."""

    def __init__(self, name, length, terminal=False):
        super().__init__(handle_auto_reset=True)
        self._name, self._length, self._terminal = name, length, terminal
        self._episode, self._time = -1, 0

    def observation_spec(self):
        def vector(size):
            return array_spec.ArraySpec([size], np.float32)

        return {"observation": vector(3), "position": vector(1), "velocity": vector(1)}

    def action_spec(self):
        return array_spec.BoundedArraySpec([1], np.float32, -1, 1)

    def _observe(self):
        seen = np.array([self._name, self._episode, self._time], np.float32)
        return {"observation": seen, "position": seen[1:2], "velocity": seen[2:]}

    def _reset(self):
        self._episode, self._time = self._episode + 1, 0
        return ts.restart(self._observe())

    def _step(self, action):
        reward = np.float32(10 * self._time + action[0])
        self._time += 1
        if self._time < self._length:
            return ts.transition(self._observe(), reward)
        if self._terminal:
            return ts.termination(self._observe(), reward)
        return ts.truncation(self._observe(), reward)


def drive(environment, observers, steps=None, episodes=None, time_step=None):
    policy = random_py_policy.RandomPyPolicy(
        environment.time_step_spec(), environment.action_spec(), seed=0
    )
    driver = py_driver.PyDriver(
        environment, policy, observers, max_steps=steps, max_episodes=episodes
    )
    return driver.run(time_step or environment.reset())[0]


class TestEpisodeWriter:
    def test_row_holds_the_action_and_the_reward_that_led_to_it(self):
        episodes, frames = [], []
        environment = Counter(name=7, length=4)
        drive(
            environment,
            [EpisodeWriter(lambda episode, _: episodes.append(episode)), frames.append],
            episodes=2,
        )
        assert len(episodes) == 2
        for number, episode in enumerate(episodes):
            check_episode(episode)
            actions = [
                f.action for f in frames if f.observation["observation"][1] == number
            ]
            taken = np.array(actions[:4])  # the fifth is never executed
            np.testing.assert_array_equal(episode["observation"][:, 2], range(5))
            np.testing.assert_array_equal(episode["action"], [[0], *taken])
            np.testing.assert_allclose(
                episode["reward"], [0, *(10 * np.arange(4) + taken[:, 0])], rtol=1e-6
            )
            assert episode["is_first"].tolist() == [True] + 4 * [False]
            assert not episode["is_terminal"].any()
            assert set(episode["position"][:, 0]) == {number}

    def test_only_a_termination_is_terminal(self):
        episodes = []
        drive(
            Counter(0, 3, terminal=True),
            [EpisodeWriter(lambda episode, _: episodes.append(episode))],
            episodes=1,
        )
        assert episodes[0]["is_terminal"].tolist() == [False, False, False, True]

    def test_environments_of_a_batch_are_kept_apart(self):
        episodes = []
        environment = batched_py_environment.BatchedPyEnvironment(
            [Counter(1, 3), Counter(2, 5)], multithreading=False
        )
        drive(
            environment,
            [EpisodeWriter(lambda episode, _: episodes.append(episode))],
            steps=30,
        )
        lengths = {1: 4, 2: 6}
        for episode in episodes:
            check_episode(episode)
            (name,) = set(episode["observation"][:, 0])
            assert len(set(episode["observation"][:, 1])) == 1
            np.testing.assert_array_equal(
                episode["observation"][:, 2], range(lengths[name])
            )
            expected = 10 * np.arange(lengths[name] - 1) + episode["action"][1:, 0]
            np.testing.assert_allclose(episode["reward"][1:], expected, rtol=1e-6)
        assert {1, 2} == {episode["observation"][0, 0] for episode in episodes}

    def test_an_episode_may_span_runs_of_the_driver(self):
        episodes, environment = [], Counter(0, 4)
        writer = EpisodeWriter(lambda episode, _: episodes.append(episode))
        between = drive(environment, [writer], steps=2)
        assert not episodes
        drive(environment, [writer], episodes=1, time_step=between)
        assert len(episodes[0]["reward"]) == 5

    def test_reset_drops_the_rest_of_an_episode(self):
        episodes, environment = [], Counter(0, 4)
        writer = EpisodeWriter(lambda episode, _: episodes.append(episode))
        between = drive(environment, [writer], steps=2)
        writer.reset()
        drive(environment, [writer], episodes=2, time_step=between)
        assert [episode["observation"][0, 1] for episode in episodes] == [1]

    def test_a_reset_environment_starts_a_new_episode(self):
        episodes, environment = [], Counter(0, 4)
        writer = EpisodeWriter(lambda episode, _: episodes.append(episode))
        drive(environment, [writer], steps=2)
        drive(environment, [writer], episodes=1)  # resets first
        assert [episode["observation"][0, 1] for episode in episodes] == [1]
        assert len(episodes[0]["reward"]) == 5

    def test_observation_that_is_no_dict_is_an_error(self):
        frame = ts.restart(np.zeros(3))._replace(reward=0.0)
        with pytest.raises(
            ValueError, match="need the keys observation, position, velocity"
        ):
            EpisodeWriter(print)(frame)


class TestEpisodeStore:
    def test_reads_back_what_was_written(self, tmp_path):
        episode = make_episode(value=3.0)
        episode["observation"] = np.arange(4 * 12, dtype=np.uint8).reshape(4, 2, 2, 3)
        assert EpisodeStore(tmp_path).append(episode) == 0
        ((index, again),) = EpisodeStore(tmp_path)
        assert index == 0
        assert again["observation"].dtype == np.uint8
        for key in KEYS:
            np.testing.assert_array_equal(again[key], episode[key])

    def test_numbering_goes_on_after_a_restart(self, tmp_path):
        store = EpisodeStore(tmp_path)
        assert [store.append(make_episode()) for _ in range(3)] == [0, 1, 2]
        assert EpisodeStore(tmp_path).append(make_episode()) == 3
        assert (tmp_path / "000003.npz").exists()

    @pytest.mark.parametrize(
        "damage", ["truncated", "text", "lacks", "shape", "flipped", "npy"]
    )
    def test_damaged_file_is_named_moved_and_survived(self, tmp_path, caplog, damage):
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

    def test_leftover_temporary_files_are_swept(self, tmp_path):
        (tmp_path / ".000000.npz.17.tmp").write_bytes(b"half")
        store = EpisodeStore(tmp_path)
        assert len(store) == 0
        assert not list(tmp_path.iterdir())

    def test_failed_write_leaves_nothing(self, tmp_path, monkeypatch):
        store = EpisodeStore(tmp_path)

        def fail(_):
            raise OSError("No space left on device")

        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", fail)
            with pytest.raises(OSError, match="No space"):
                store.append(make_episode())
        assert not list(tmp_path.iterdir())
        assert (len(store), store.append(make_episode())) == (0, 0)

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"reward": np.zeros(3)}, "equally many rows"),
            ({"action": np.zeros(4)}, "action of rank 2"),
            ({"is_first": np.ones(4, bool)}, "is_first true in its first row alone"),
        ],
    )
    def test_wrong_layout_is_an_error(self, tmp_path, change, message):
        with pytest.raises(ValueError, match=message):
            EpisodeStore(tmp_path).append(make_episode() | change)
        assert not list(tmp_path.iterdir())


WRITER = """
import sys
import numpy as np
from agents.episodes import EpisodeStore
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
    assert len(store) <= len(acknowledged) + 8
    assert not (tmp_path / "damaged").exists()
    assert not list(tmp_path.glob(".*"))
    for _, episode in store:
        check_episode(episode)


def test_replacing_keeps_the_old_file_on_error(tmp_path):
    file = tmp_path / "scores.csv"
    file.write_text("old")
    with pytest.raises(RuntimeError), replacing(file) as handle:  # noqa: PT012
        handle.write(b"new")
        raise RuntimeError
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]
