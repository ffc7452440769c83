"""Runs of many processes: killed at random, stopped, and long."""

import collections
import os
import random
import signal
import subprocess
import time

import numpy as np
import psutil
import pytest

from agents.episodes.store import EpisodeStore
from agents.runs.records import read_metrics, read_scores
from agents.system.processes import command_of

ACTOR, EVALUATOR, RAYLET, HEAD = "ray::Actor", "ray::Judge", "raylet/raylet", "gcs_server"
COMMAND = "command"  # the learner
OF_AN_EPISODE, UPDATES, EVALUATED = 20, 2, 20
STANDS_STILL = 16_000  # steps of a run that goes on until a stopped actor is back
SPARED = 0.8  # share of the kills before which the run has come further
ORPHANED = 30.0  # seconds after the end


class Killed:
    """The command, started again whenever it has ended before its time."""

    def __init__(self, folder, *more, steps):
        words = [
            "experiment=debug",
            "value=none",
            "evaluation.every_steps=0",
            "video_every_steps=0",
        ]
        words += ["probe_every_steps=0", f"environment_steps={steps}", "actors=2", *more]
        self.folder = folder / "run"
        self.output = folder / "output"
        self._command = command_of("train", *words, f"logdir={self.folder}")
        self.family = {}
        self.start()

    def start(self):
        with open(self.output, "ab") as output:
            self._process = subprocess.Popen(
                self._command, stdout=output, stderr=subprocess.STDOUT
            )

    @property
    def status(self):
        return self._process.poll()

    @property
    def lines(self):
        metrics = self.folder / "metrics.jsonl"
        return metrics.read_bytes().count(b"\n") if metrics.exists() else 0

    def find(self, name):
        """A process of the run, if there is one now."""
        try:
            parent = psutil.Process(self._process.pid)
            family = {p.pid: p for p in parent.children(recursive=True)}
        except psutil.NoSuchProcess:
            return None
        self.family |= family
        if name == COMMAND:
            return parent
        found = [p for p in family.values() if name in _words(p)]
        return random.choice(found) if found else None  # noqa: S311

    def kill(self, name):
        """Kills a process of the run by SIGKILL; says whether there was one."""
        process = self.find(name)
        if process is None:
            return False
        process.kill()
        if name == COMMAND:
            self._process.wait()
        return True

    def keep_on(self):
        """Starts the command again where it has ended by what was killed."""
        status = self.status
        if status not in (None, 0):
            assert status in (1, -signal.SIGKILL), self.output.read_text()[-2000:]
            self.start()

    def wait_for_a_line(self, seconds=900):
        """Waits until the run has come further, or is done."""
        lines, began = self.lines, time.monotonic()
        while self.lines <= lines and self.status != 0:
            self.keep_on()
            time.sleep(0.1)
            assert time.monotonic() - began < seconds, self.output.read_text()[-2000:]

    def wait_for_its_end(self, seconds=200):
        """Does not start it again; its exit status."""
        return self._process.wait(seconds)

    def numbers(self):
        """Numbers of all episodes on disk, in the order of their files."""
        store = self.folder / "episodes"
        return [int(e["number"]) for _, e in EpisodeStore(store)] if store.exists() else []


def _words(process):
    try:
        return " ".join(process.cmdline())[:200]
    except psutil.Error:
        return ""


def on_disk(run):
    """Files are read while the run goes on, so their names alone."""
    return {file.name for file in (run.folder / "episodes").glob("*.npz")}


def assert_whole(run, kept, steps):
    """The run has ended with all episodes `kept`, each once, and no process is left."""
    assert run.status == 0
    numbers = run.numbers()
    assert len(numbers) == len(set(numbers))
    assert kept <= on_disk(run)
    rows = read_metrics(run.folder)
    assert [row["episodes"] for row in rows] == list(range(1, len(rows) + 1))
    assert rows[-1]["environment_steps"] == steps == OF_AN_EPISODE * len(rows)
    began = time.monotonic()
    while left := [p for p in run.family.values() if _lives(p)]:
        assert time.monotonic() - began < ORPHANED, [_words(p) for p in left]
        time.sleep(0.2)
    return rows


def _lives(process):
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def kill_at_random(run, kills, names):
    """Kills so many processes; what was on disk before."""
    killed, kept, seed = collections.Counter(), set(), random.Random(0)
    while killed.total() < kills and run.status != 0:
        run.keep_on()
        if seed.random() < SPARED:
            run.wait_for_a_line()
        time.sleep(seed.uniform(0.0, 3.0))
        kept |= on_disk(run)
        name = seed.choice(names)
        killed[name] += run.kill(name)
    print(dict(killed), run.lines)
    assert killed.total() == kills
    while run.status != 0:
        run.wait_for_a_line()
    return kept


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_after_some_kills_no_episode_is_lost_and_none_counted_twice(tmp_path):
    run = Killed(tmp_path, steps=800)
    kept = set()
    for name in (ACTOR, RAYLET, COMMAND):  # the last two end the run
        run.wait_for_a_line()
        kept |= on_disk(run)
        assert run.kill(name)
    while run.status != 0:
        run.wait_for_a_line()
    assert_whole(run, kept, 800)


@pytest.mark.long
@pytest.mark.timeout(7200)
def test_after_sixty_kills_no_episode_is_lost_and_none_counted_twice(tmp_path):
    steps = 20_000
    words = f"evaluation.every_steps={EVALUATED * OF_AN_EPISODE}", "evaluation.episodes=1"
    run = Killed(tmp_path, *words, steps=steps)
    kept = kill_at_random(run, 60, (ACTOR, ACTOR, EVALUATOR, RAYLET, HEAD, COMMAND))
    rows = assert_whole(run, kept, steps)
    evaluated = [row["episodes"] for row in rows if "evaluate/return" in row]
    assert evaluated == list(range(EVALUATED, len(rows) + 1, EVALUATED))
    assert [int(score["episodes"]) for score in read_scores(run.folder)] == evaluated
    learned = len(rows) - 2  # the first episodes are not followed by updates
    np.testing.assert_allclose(rows[-1]["train_steps"], UPDATES * learned, atol=UPDATES)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_an_actor_that_stands_still_is_noticed_and_its_episode_taken_over(tmp_path):
    # Slow enough that the other actor does not end the run before this one is back.
    run = Killed(tmp_path, "updates_per_step=1", steps=STANDS_STILL)
    for _ in range(8):
        run.wait_for_a_line()
    os.kill(run.find(ACTOR).pid, signal.SIGSTOP)
    began = time.monotonic()
    while "no sign of life for 10 s" not in run.output.read_text():
        assert time.monotonic() - began < 15
        time.sleep(0.1)
    while run.status != 0:
        run.wait_for_a_line()
    assert_whole(run, set(), STANDS_STILL)
    numbers = sorted(run.numbers())
    assert numbers[:20] == list(range(20))


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_memory_does_not_grow_over_a_thousand_episodes(tmp_path):
    run = Killed(tmp_path, "replay_capacity=2000", steps=1000 * OF_AN_EPISODE)
    memory = {}
    for episodes in (300, 650, 980):
        while run.lines < episodes:
            run.wait_for_a_line()
        memory[episodes] = {
            name: run.find(name).memory_info().rss / 2**20 for name in (ACTOR, COMMAND)
        }
    print(memory)
    for name in (ACTOR, COMMAND):
        assert memory[980][name] - memory[300][name] < 40, name
    while run.status != 0:
        run.wait_for_a_line()
