"""Runs of many processes: killed at random, stopped, and long."""

import collections
import contextlib
import os
import random
import signal
import subprocess
import time

import numpy as np
import psutil
import pytest

from agents.episodes.store import read_episode
from agents.runs.records import read_metrics
from agents.system.processes import LoggedProcess, command_of, free_addresses
from agents.training.distributed.handover import Handover
from agents.training.distributed.heartbeat import read_beat

KILLS = 60
ROLES = ("server", "learner", "actor_0", "actor_1")
SECONDS = (0.0, 4.0)  # between kills
SPARED = 0.8  # share of the kills before which the run has come further
STEPS, OF_AN_EPISODE, UPDATES = 30_000, 20, 2


class Run:
    """The command, started again whenever it is killed."""

    def __init__(self, folder, *more, steps=STEPS):
        words = [
            "experiment=debug",
            "value=none",
            "evaluation.every_steps=0",
            "video_every_steps=0",
        ]
        words += ["probe_every_steps=0", f"environment_steps={steps}", "actors=2", *more]
        self.folder = folder / "run"
        self._output = folder / "output"
        self._command = command_of("train", *words, f"logdir={self.folder}")
        self.start()

    def start(self):
        with open(self._output, "ab") as output:
            self._process = subprocess.Popen(
                self._command, stdout=output, stderr=subprocess.STDOUT
            )

    def kill(self, name):
        """Kills a process of the run by SIGKILL; says whether there was one."""
        if name == "supervisor":
            self._process.kill()
            self._process.wait()
            self.start()
            return True
        beat = read_beat(self.folder / "roles", name)
        if beat is None or beat.state in ("ended", "starting"):
            return False
        try:
            os.kill(beat.process, signal.SIGKILL)
        except ProcessLookupError:  # not started again yet
            return False
        return True

    def process(self, name):
        """The `psutil.Process` of a role that lives."""
        return psutil.Process(read_beat(self.folder / "roles", name).process)

    def wait_until(self, is_so, seconds):
        """Waits; gives the seconds that it took."""
        began = time.monotonic()
        while not is_so():
            assert time.monotonic() - began < seconds
            assert self.status is None or is_so()
            time.sleep(0.1)
        return time.monotonic() - began

    def says(self, text):
        return text in self._output.read_text()

    def silence(self, name):
        """Seconds until a process that was just killed is there again."""
        began, role = time.monotonic(), "server" if name == "supervisor" else name
        before = read_beat(self.folder / "roles", role)
        while time.monotonic() - began < 60:
            beat = read_beat(self.folder / "roles", role)
            if beat is not None and (before is None or beat.process != before.process):
                break
            time.sleep(0.05)
        return time.monotonic() - began

    @property
    def status(self):
        return self._process.poll()

    @property
    def lines(self):
        metrics = self.folder / "metrics.jsonl"
        return metrics.read_bytes().count(b"\n") if metrics.exists() else 0

    def wait_for_a_line(self):
        """Waits until the run has come further."""
        lines = self.lines
        self.wait_until(lambda: self.lines > lines or self.status is not None, 120)

    def finished(self):
        """Numbers of all episodes that are on disk."""
        pairs = Handover(self.folder / "episodes").files()
        return [int(read_episode(file)["number"]) for file, _ in pairs if file.exists()]


def assert_whole(run, kept, steps):
    """The run has ended with all episodes `kept`, each once; its lines of metrics."""
    assert run.status == 0
    numbers = run.finished()
    assert len(numbers) == len(set(numbers))
    assert kept <= set(numbers)
    rows = read_metrics(run.folder)
    assert [row["episodes"] for row in rows] == list(range(1, len(rows) + 1))
    assert rows[-1]["environment_steps"] == steps == OF_AN_EPISODE * len(rows)
    return rows


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_after_sixty_kills_no_episode_is_lost_and_none_counted_twice(tmp_path):
    run, seed = Run(tmp_path), random.Random(0)
    killed, kept, silences = collections.Counter(), set(), []
    while sum(killed.values()) < KILLS and run.status is None:
        if seed.random() < SPARED:
            run.wait_for_a_line()
        time.sleep(seed.uniform(*SECONDS))
        kept |= set(run.finished())
        name = seed.choice([*ROLES, "supervisor"])
        if run.kill(name):
            killed[name] += 1
            silences.append(run.silence(name))
    print(dict(killed), f"longest silence {max(silences):.1f} s", run.lines)
    assert max(silences) < 30
    last, lines = time.monotonic(), run.lines
    while run.status is None:
        time.sleep(0.5)
        if run.lines != lines:
            last, lines = time.monotonic(), run.lines
        assert time.monotonic() - last < 60
    rows = assert_whole(run, kept, STEPS)
    learned = len(rows) - 2  # the first episodes are not followed by updates
    np.testing.assert_allclose(rows[-1]["train_steps"], UPDATES * learned, atol=UPDATES)
    assert sum(killed.values()) == KILLS


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_server_that_stands_still_is_spoken_of_and_nothing_is_lost(tmp_path):
    steps = 2400
    run = Run(tmp_path, steps=steps)
    run.wait_until(lambda: run.lines > 10, 200)
    kept, server = set(run.finished()), run.process("server")
    server.suspend()
    seconds = run.wait_until(lambda: run.says("server: no sign of life for"), 60)
    print(f"spoken of after {seconds:.1f} s")
    assert seconds < 15
    time.sleep(60 - seconds)
    if server.is_running():
        server.resume()
    run.wait_until(lambda: run.status is not None, 600)
    assert_whole(run, kept, steps)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_memory_does_not_grow_over_a_thousand_episodes(tmp_path):
    run = Run(tmp_path, "replay_capacity=2000", steps=1000 * OF_AN_EPISODE)
    memory = {}
    for episodes in (300, 650, 980):
        run.wait_until(lambda enough=episodes: run.lines >= enough, 1500)
        memory[episodes] = {
            name: run.process(name).memory_info().rss / 2**20 for name in ROLES
        }
    print(memory)
    run.wait_until(lambda: run.status is not None, 200)
    for name in ROLES:
        assert memory[980][name] - memory[300][name] < 40, name


SEVERAL = "learners=2", "devices=multi_worker"


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_when_a_learner_is_killed_all_go_on_from_the_last_checkpoint(tmp_path):
    steps = 400
    run = Run(tmp_path, *SEVERAL, steps=steps)
    run.wait_until(lambda: run.lines > 5, 300)
    kept, first = set(run.finished()), run.process("learner")
    assert run.kill("learner_1")
    run.wait_until(lambda: not first.is_running(), 20)
    run.wait_until(lambda: run.status is not None, 500)
    rows = assert_whole(run, kept, steps)
    others = read_metrics(run.folder / "learner_1")
    assert [row["train/loss"] for row in rows[2:]] == [
        row["train/loss"] for row in others[2:]
    ]


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_where_nobody_watches_a_learner_whose_peer_is_killed_ends_with_a_line(tmp_path):
    """As on a cluster, whose script starts it again."""
    words = ["experiment=debug", "value=none", "environment_steps=100_000", "actors=1"]
    words += [*SEVERAL, f"logdir={tmp_path}/run"]
    server, *learners = free_addresses(3)
    among = "--learners", ",".join(learners)
    roles = {
        "server": ["server"],
        "actor": ["actor", "--number", "0"],
        "learner": ["learner", *among],
        "learner_1": ["learner", "--number", "1", *among],
    }
    with contextlib.ExitStack() as stack:
        processes = {}
        for name, (role, *options) in roles.items():
            command = command_of(role, "--server", server, *options, *words)
            processes[name] = LoggedProcess(command, tmp_path / f"{name}.log")
            stack.callback(processes[name].wait)
            stack.callback(processes[name].kill)
        metrics, began = tmp_path / "run" / "metrics.jsonl", time.monotonic()
        while not metrics.exists() or metrics.read_bytes().count(b"\n") < 4:
            time.sleep(0.1)
            assert time.monotonic() - began < 300
        processes["learner_1"].kill()
        began = time.monotonic()
        assert processes["learner"].wait(60) == 1
        print(f"ended after {time.monotonic() - began:.1f} s")
        assert "another learner has gone" in processes["learner"].reason
