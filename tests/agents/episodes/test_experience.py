"""Tests of agents.episodes.experience; training tests the experiences themselves."""

import os
import pathlib
import subprocess
import sys

import pytest

import envs
from agents.episodes.environments import COLLECTION, environment_seed
from agents.episodes.experience import Attempts
from agents.episodes.store import readable_episodes
from envs.simulations.gym import one_number

ROOT = pathlib.Path(__file__).parents[3]


def _session(file, number):
    """The episode that a session begins with."""
    attempts = Attempts(file, number)
    first = number + attempts.left_out()
    attempts.note()
    return first


def test_an_episode_is_left_out_after_four_sessions_have_ended_in_it(tmp_path, caplog):
    file = tmp_path / "attempts.txt"
    assert [_session(file, 7) for _ in range(9)] == [7, 7, 7, 7, 8, 8, 8, 8, 9]
    assert [record.message for record in caplog.records][0] == (
        "4 sessions in a row have ended in episode 7: the run goes on with episode 8"
    )
    assert [_session(file, number) for number in (8, 8, 9, 8)] == [8, 8, 9, 8]


def test_a_session_that_was_stopped_does_not_count(tmp_path):
    file = tmp_path / "attempts.txt"
    for _ in range(9):
        attempts = Attempts(file, 7)
        attempts.forget()  # before it has begun an episode
        attempts.note()
        attempts.forget()
    assert Attempts(file, 7).left_out() == 0
    for _ in range(4):
        _session(file, 7)
    attempts = Attempts(file, 7)
    assert (attempts.left_out(), attempts.taken(), attempts.taken()) == (1, 1, 0)
    attempts.note()
    attempts.forget()
    assert Attempts(file, 7).left_out() == 1


@pytest.mark.parametrize("content", ["", "7", "seven 4", "7 4 4"])
def test_what_is_no_count_counts_nothing(tmp_path, content):
    file = tmp_path / "attempts.txt"
    file.write_text(content)
    assert _session(file, 7) == 7


DEADLY = """
import os
import sys
from tests.envs.simulations.test_own import Counter

class Deadly(Counter):
    def step(self, action):
        if self.seed == {seed}:
            os._exit(139)
        return super().step(action)
"""


@pytest.mark.slow
def test_a_run_goes_on_whose_simulator_ends_the_process(tmp_path):
    (first,) = envs.spread_seeds(environment_seed(0, COLLECTION), 1)
    deadly = DEADLY.format(seed=one_number([first, 2]))  # in episode 2
    (tmp_path / "deadly.py").write_text(deadly)
    command = [sys.executable, "-m", "agents", "train", "experiment=debug", "value=none"]
    command += ["task=python:deadly:Deadly", "environment_steps=12", "seed_steps=99"]
    command += ["logdir=run", "evaluation.every_steps=0", "seed=0"]
    paths = {"PYTHONPATH": f"{ROOT}:{tmp_path}"}

    def train():
        given = {"cwd": tmp_path, "env": os.environ | paths, "timeout": 300}
        return subprocess.run(command, capture_output=True, text=True, **given)

    for _ in range(1 + 4):  # the first has begun with episode 0
        assert train().returncode == 139
    done = train()
    assert done.returncode == 0, done.stderr
    assert "4 sessions in a row have ended in episode 2: the run goes on" in done.stderr
    episodes = [*readable_episodes(tmp_path / "run/episodes")]
    assert [int(episode["number"]) for episode in episodes] == [0, 1, 3, 4]
    assert [int(episode["failed_episodes"]) for episode in episodes] == [0, 0, 1, 0]
