"""Tests of agents.training.distributed.heartbeat."""

import contextlib
import os
import time

from agents.training.distributed import heartbeat
from agents.training.distributed.heartbeat import Heartbeat, read_beat


def test_a_process_says_what_it_does_and_since_when(tmp_path):
    with contextlib.closing(Heartbeat(tmp_path, "actor_1")) as beat:
        assert read_beat(tmp_path, "actor_1").state == "starting"
        beat("collecting", train_steps=3)
        time.sleep(0.05)
        beat("collecting", episodes=2)
        said = read_beat(tmp_path, "actor_1")
    assert (said.state, said.process) == ("collecting", os.getpid())
    assert said.told == {"train_steps": 3, "episodes": 2}
    assert 0.05 <= said.since < 5
    assert read_beat(tmp_path, "actor_1").state == "ended"


def test_it_beats_by_itself_until_it_is_closed(tmp_path, monkeypatch):
    monkeypatch.setattr(heartbeat, "SECONDS", 0.01)
    beat = Heartbeat(tmp_path, "server")
    counts = {read_beat(tmp_path, "server").count}
    while len(counts) < 4:
        time.sleep(0.01)
        counts.add(read_beat(tmp_path, "server").count)
    beat.close()
    time.sleep(0.05)
    last = read_beat(tmp_path, "server").count
    time.sleep(0.1)
    assert read_beat(tmp_path, "server").count == last


def test_what_is_no_beat_is_none(tmp_path):
    assert read_beat(tmp_path, "learner") is None
    for text in ("", "{}", '{"count": 1', "[1, 2]"):
        (tmp_path / "learner.json").write_text(text)
        assert read_beat(tmp_path, "learner") is None
