"""Tests of benchmarks.scale.processes."""

import os
import pathlib
import shutil

import pytest

from benchmarks.scale import processes

RESULTS = pathlib.Path(processes.__file__).parents[2] / "results"


def test_the_page_of_this_repository_stands_as_it_is_made(tmp_path):
    for name in ("processes.csv", "processes.md"):
        shutil.copy(RESULTS / name, tmp_path)
    processes.make_report().remake(tmp_path)
    kept = (RESULTS / "processes.md").read_text()
    assert (tmp_path / "processes.md").read_text() == kept


def test_actors_are_held_against_one_process_of_the_same_code():
    own = {"run": "x", "code": "a", "speed": 200.0, "first": 5.0, "memory": 900.0}
    rows = [own | {"actors": 0}]
    rows.append(own | {"actors": 2, "speed": 300.0, "first": 12.0, "memory": 1500.0})
    rows.append(own | {"actors": 4, "speed": 250.0})
    rows.append(own | {"code": "b", "actors": 2, "speed": 400.0})
    rows.append(own | {"run": "y", "actors": 2, "speed": 500.0})
    assert processes.answer(rows, {}) == (
        "With 2 actors, a run makes 300 environment steps a second on this machine, and "
        "200 with one process. The first episode comes 7 seconds later, and the run uses "
        "1500 MiB of memory instead of 900."
    )


def test_keys_are_written_as_another_checkout_knows_them(tmp_path):
    words = ["video_every_steps=0", "seed=1"]
    assert processes._known(processes.HERE, words) == words
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs" / "train.yaml").write_text("video_every: 20")
    assert processes._known(tmp_path, words) == ["video_every=0", "seed=1"]


RUN = """\
import json, pathlib, sys, time
run = pathlib.Path(sys.argv[-1].removeprefix("logdir="))
run.mkdir()
for episode in range(100):
    row = {"environment_steps": 1000 * episode, "train_steps": 250 * max(0, episode - 2)}
    with open(run / "metrics.jsonl", "a") as file:
        file.write(json.dumps(row) + "\\n")
    time.sleep(0.05)
"""


def test_speeds_are_those_of_episodes_that_were_learned_from(tmp_path, monkeypatch):
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "__main__.py").write_text(RUN)
    monkeypatch.setattr(processes, "HERE", tmp_path)
    steps, updates = processes.speeds([], actors=1, episodes=5)
    assert steps / updates == pytest.approx(4.0)
    assert 0 < steps < 25_000


def test_the_command_is_the_learner_where_no_other_process_is():
    found = processes._by_kind(os.getpid(), lambda process: process.pid)
    assert found[os.getpid()] == ("learner", os.getpid())
