"""A run of many processes whose processes are killed at random."""

import collections
import os
import random
import signal
import subprocess
import time

import numpy as np
import pytest

from agents.distributed.handover import Handover
from agents.episodes.store import read_episode
from agents.processes.heartbeat import read_beat
from agents.processes.starting import command_of
from agents.runs.records import read_metrics

KILLS = 60
ROLES = ("server", "learner", "actor_0", "actor_1")
SECONDS = (0.0, 4.0)  # between kills
SPARED = 0.8  # share of the kills before which the run has come further
STEPS, OF_AN_EPISODE, UPDATES = 24_000, 20, 2


class Run:
    """The command, started again whenever it is killed."""

    def __init__(self, folder):
        words = ["experiment=debug", "value=none", "evaluation.every=0", "video_every=0"]
        words += ["probe_every=0", f"environment_steps={STEPS}", "actors=2"]
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
        lines, began = self.lines, time.monotonic()
        while self.lines <= lines and self.status is None:
            time.sleep(0.1)
            assert time.monotonic() - began < 120

    def finished(self):
        """Numbers of all episodes that are on disk."""
        pairs = Handover(self.folder / "episodes").files()
        return [int(read_episode(file)["number"]) for file, _ in pairs if file.exists()]


@pytest.mark.slow
@pytest.mark.timeout(1800)
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
    assert run.status == 0
    numbers = run.finished()
    assert len(numbers) == len(set(numbers))
    assert kept <= set(numbers)
    rows = read_metrics(run.folder)
    assert [row["episodes"] for row in rows] == list(range(1, len(rows) + 1))
    assert rows[-1]["environment_steps"] == STEPS == OF_AN_EPISODE * len(rows)
    learned = len(rows) - 2  # the first episodes are not followed by updates
    np.testing.assert_allclose(rows[-1]["train_steps"], UPDATES * learned, atol=UPDATES)
    assert sum(killed.values()) == KILLS
