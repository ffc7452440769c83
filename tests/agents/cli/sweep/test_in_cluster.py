"""Tests of agents.cli.sweep.in_cluster."""

import contextlib
import time

import pytest

from agents.cli.sweep import in_cluster
from agents.cli.sweep.launching import LOG, Job
from agents.runs.config.overrides import load
from agents.runs.history import is_finished
from agents.runs.records import read_metrics
from agents.training.distributed import cluster

WORDS = (
    "experiment=debug",
    "value=none",
    "evaluation.every_steps=0",
    "video_every_steps=0",
)
WORDS += ("probe_every_steps=0",)


@pytest.fixture(scope="module")
def cores():
    """Ray on this machine, with two cores."""
    with cluster.connected(load(["task=fake", "actors=1"]), processes=2):
        yield


@pytest.fixture
def start(cores, tmp_path, monkeypatch):
    """Starts a run there, where this process is already."""
    monkeypatch.setattr(cluster, "connected", lambda *_, **__: contextlib.nullcontext())

    def started(*words):
        with in_cluster.joined(None, cores=1) as (room, start):
            assert room == 2
            return start(Job(words, tmp_path / "run", 40, ""))

    return started


def wait_for(condition, seconds=300):
    began = time.monotonic()
    while not (found := condition()):
        assert time.monotonic() - began < seconds
        time.sleep(0.1)
    return found


@pytest.mark.slow
def test_a_run_is_trained_in_its_folder(start, tmp_path):
    process = start(*WORDS, "environment_steps=40", "address=auto")
    wait_for(lambda: process.poll() is not None)
    assert (process.poll(), process.reason) == (0, "")
    assert is_finished(load([*WORDS, "environment_steps=40", f"logdir={tmp_path}/run"]))


@pytest.mark.slow
def test_why_a_run_failed_is_told(start):
    process = start("batch_size=none")
    wait_for(lambda: process.poll() is not None)
    assert process.poll() == 2
    assert process.reason.startswith("batch_size must be")


@pytest.mark.slow
def test_a_folder_that_only_the_other_machine_has_is_told(start, tmp_path):
    process = start("--help")
    wait_for(lambda: process.poll() is not None)
    assert process.poll() == 1
    assert (
        process.reason == f"{tmp_path}/run is not here: all machines must see that folder"
    )


@pytest.mark.slow
def test_a_run_that_is_stopped_saves(start, tmp_path):
    process = start(*WORDS, "environment_steps=1_000_000")
    wait_for(lambda: len(read_metrics(tmp_path / "run")) > 2)
    process.send_signal(None)
    wait_for(lambda: process.poll() is not None)
    assert process.poll() == 130
    assert "The same command resumes the run" in (tmp_path / "run" / LOG).read_text()
