"""Tests of agents.training.distributed.remote, with processes of Ray."""

import os
import signal
import time

import pytest
import ray

from agents.system.errors import GoneError, UserError
from agents.training.distributed import remote
from agents.training.distributed.remote import LIFE, Remote
from envs import EnvironmentFailedError

PATIENCE = 120.0


class Worker:
    """Does what it is told."""

    @ray.method(concurrency_group=LIFE)
    def alive(self):
        return os.getpid()

    def double(self, number):
        return 2 * number

    def process_after(self, seconds):
        time.sleep(seconds)
        return os.getpid()

    def die(self):
        os._exit(3)

    def die_if_odd(self, number):
        return os._exit(3) if number % 2 else number

    def inverse(self, number):
        return 1 / number

    def fail(self, error):
        raise error


class Unmakeable(Worker):
    def __init__(self):
        raise FloatingPointError("no such\nthing")


@pytest.fixture
def worker(here):
    return Remote("worker_0", Worker)


def result_of(worker, until=PATIENCE):
    began = time.monotonic()
    while (result := worker.result()) is None:
        worker.watch()
        time.sleep(0.05)
        assert time.monotonic() - began < until
    return result


def wait_for(worker, name):
    began = time.monotonic()
    while getattr(worker, name) is None:
        worker.watch()
        time.sleep(0.05)
        assert time.monotonic() - began < PATIENCE
    return getattr(worker, name)


def test_it_does_one_thing_after_another(worker):
    assert worker.is_idle
    worker.begin("double", 4)
    assert not worker.is_idle
    assert result_of(worker) == 8
    assert worker.is_idle
    assert worker.result() is None


@pytest.mark.slow
def test_what_a_killed_process_was_doing_its_successor_does(worker, capfd):
    first = wait_for(worker, "_process")
    worker.begin("process_after", 2.0)
    os.kill(first, signal.SIGKILL)
    assert result_of(worker) != first
    assert "worker_0: has failed (it has died); it tries again" in capfd.readouterr().err


@pytest.mark.slow
def test_a_process_that_stands_still_is_noticed_and_replaced(worker, capfd, monkeypatch):
    monkeypatch.setattr(remote, "_SILENCE", 3.0)
    monkeypatch.setattr(remote, "_DEATH", 6.0)
    first = wait_for(worker, "_process")
    worker.begin("process_after", 2.0)
    os.kill(first, signal.SIGSTOP)
    assert result_of(worker) != first
    told = capfd.readouterr().err.splitlines()
    assert "worker_0: no sign of life for 3 s" in told
    assert "worker_0: no sign of life for 6 s; killed, it is restarted" in told


@pytest.mark.slow
def test_one_that_dies_each_time_ends_the_run(worker, monkeypatch):
    monkeypatch.setattr(remote, "TRIES", 2)
    worker.begin("die")
    with pytest.raises(GoneError) as error:
        result_of(worker)
    assert str(error.value) == (
        "worker_0 has failed 2 times in a row (it has died); the same command goes on from "
        "the last checkpoint"
    )


@pytest.mark.slow
def test_what_it_dies_of_each_time_is_left_out_at_last(worker, capfd, monkeypatch):
    monkeypatch.setattr(remote, "TRIES", 3)
    worker.begin("die_if_odd", 5, last=(6,))
    assert result_of(worker) == 6
    told = [line for line in capfd.readouterr().err.splitlines() if "has failed" in line]
    assert told == [
        "worker_0: has failed (it has died); it tries again",
        "worker_0: has failed (it has died); it leaves out what it began",
    ]


def test_the_last_try_is_by_what_was_given_for_it(worker, monkeypatch):
    monkeypatch.setattr(remote, "TRIES", 2)
    worker.begin("inverse", 0.0, last=(4.0,))
    assert result_of(worker) == 0.25
    worker.begin("inverse", 0.0, last=(0.0,))
    with pytest.raises(GoneError, match=r"2 times in a row \(ZeroDivisionError"):
        result_of(worker)


def test_what_was_typed_wrong_is_told_at_once(worker):
    worker.begin("fail", UserError("seed must be at least 0, got -1"))
    with pytest.raises(UserError, match=r"^seed must be at least 0, got -1$"):
        result_of(worker)


def test_an_environment_may_fail_now_and_then(worker, monkeypatch):
    monkeypatch.setattr(remote, "TRIES", 3)
    worker.begin("fail", EnvironmentFailedError("no gravity"))
    with pytest.raises(EnvironmentFailedError, match=r"^no gravity$"):
        result_of(worker)


def test_other_errors_are_told_in_a_line(worker, monkeypatch):
    monkeypatch.setattr(remote, "TRIES", 1)
    worker.begin("fail", ZeroDivisionError("by 0\nhere"))
    with pytest.raises(GoneError, match=r"in a row \(ZeroDivisionError: by 0\); the same"):
        result_of(worker)


def test_one_that_cannot_be_made_ends_the_run(here):
    worker = Remote("worker_0", Unmakeable)
    worker.begin("double", 1)
    with pytest.raises(GoneError, match=r"^worker_0 has ended \(.*\); the same command"):
        result_of(worker)


def test_a_time_in_which_nobody_looked_counts_little(worker, capfd, monkeypatch):
    wait_for(worker, "_process")
    worker.watch()
    monkeypatch.setattr(worker, "_looked", time.monotonic() - 1000)
    worker.watch()
    assert worker._silence <= remote._LAPSE
    assert "no sign" not in capfd.readouterr().err
