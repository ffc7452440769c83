"""Tests of agents.cli.sweep.launching."""

import os
import pathlib
import signal
import subprocess
import sys
import threading
import time
from unittest.mock import Mock

import pytest

from agents.cli.sweep import launching
from agents.cli.sweep.launching import DONE, FAILED, LOG, STOPPED, Job, ProcessLauncher

ROOT = pathlib.Path(__file__).parents[4]
SLEEPS = "import time; open('begun', 'a').write('.'); time.sleep(60)"
SAVES = (
    "import signal, sys, time; signal.signal(signal.SIGINT, lambda *_: sys.exit(130)); "
    "open('begun', 'a').write('.'); time.sleep(60)"
)


@pytest.mark.slow
@pytest.mark.parametrize("searched", [str(ROOT), ""])
def test_packages_of_the_same_names_in_the_current_folder_are_not_run(searched, tmp_path):
    for name in ("agents", "configs", "envs", "yaml"):
        (tmp_path / name).mkdir()
        code = f"print('theirs: {name}')"
        (tmp_path / name / "__init__.py").write_text(code)
        (tmp_path / name / "__main__.py").write_text(code)
    job = Job(("--print-config", "task=fake"), tmp_path, 10, "")
    result = subprocess.run(
        job.command,
        env={"PYTHONPATH": searched},
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith("task: fake\n")


# A task whose module sleeps where a run imports it, not where a sweep checks its words.
NAPS = """
import os, sys, time
if "-m" not in sys.argv:
    open(f"{os.getpid()}.begun", "w").close()
    time.sleep(600)

def make(): pass
"""


def lives(process):
    """Whether a process runs; one that has ended may wait to be asked for its status."""
    try:
        status = pathlib.Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


def wait_until(happened, seconds=60):
    end = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.slow
def test_runs_end_with_a_sweep_that_is_killed(tmp_path):
    (tmp_path / "naps.py").write_text(NAPS)
    words = ["task=python:naps:make", "seed=0,1", "logdir=runs/${seed}"]
    sweep = subprocess.Popen(
        [sys.executable, "-m", "agents", "train", "-m", "--jobs", "2", *words],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": f"{ROOT}:{tmp_path}"},
        stdout=subprocess.DEVNULL,
    )
    wait_until(lambda: len([*tmp_path.glob("*.begun")]) == 2)
    runs = [int(file.stem) for file in tmp_path.glob("*.begun")]
    assert all(map(lives, runs))
    sweep.kill()
    sweep.wait()
    wait_until(lambda: not any(map(lives, runs)), seconds=5)


@pytest.fixture
def make(monkeypatch, tmp_path):
    """Makes jobs that run Python code."""
    monkeypatch.chdir(tmp_path)
    command = property(lambda job: [sys.executable, "-S", "-c", *job.words])
    monkeypatch.setattr(launching.Job, "command", command)
    return lambda code, name="job": Job((code,), tmp_path / name, 10, name)


def interrupt(after, times=1):
    """Sends Ctrl-C to this process once the file `begun` has a sign for each job."""

    def send():
        while not os.path.exists("begun") or os.stat("begun").st_size < after:
            time.sleep(0.01)
        for _ in range(times):
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.5)

    thread = threading.Thread(target=send, daemon=True)
    thread.start()
    return thread


@pytest.mark.slow
def test_jobs_run_side_by_side_and_no_more_than_asked_for(make, tmp_path):
    code = (
        "import os, time; open('sign', 'a').write('+'); time.sleep(0.6); "
        "open('sign', 'a').write('-')"
    )
    jobs = [make(code, name) for name in "abcd"]
    assert set(ProcessLauncher(2, Mock()).launch(jobs).values()) == {(DONE, "")}
    signs = (tmp_path / "sign").read_text()
    running = [signs[:end].count("+") - signs[:end].count("-") for end in range(9)]
    assert max(running) == 2


@pytest.mark.slow
def test_failure_stops_nobody_and_its_last_line_is_told(make):
    bad = make("import sys; print('x'); sys.exit('bayes-rl: no space left\\n')", "bad")
    silent = make("raise SystemExit(3)", "silent")
    killed = make("import os; os.kill(os.getpid(), 9)", "killed")
    good = make("print('hello')", "good")
    results = ProcessLauncher(1, Mock()).launch([bad, silent, killed, good])
    assert results[bad] == (FAILED, "no space left (exit status 1)")
    assert results[silent] == (FAILED, "no output (exit status 3)")
    assert results[killed] == (FAILED, "killed by SIGKILL")
    assert results[good] == (DONE, "")
    assert (good.folder / LOG).read_text() == "hello\n"


def test_output_of_earlier_sessions_stays_and_explains_nothing(make):
    job = make("print('first')")
    ProcessLauncher(1, Mock()).launch([job])
    again = make("raise SystemExit(1)")
    assert ProcessLauncher(1, Mock()).launch([again])[again] == (
        FAILED,
        "no output (exit status 1)",
    )
    assert (job.folder / LOG).read_text() == "first\n"


def test_folder_that_cannot_be_made_is_a_failure(make, tmp_path):
    (tmp_path / "job").write_text("a file")
    ((state, reason),) = ProcessLauncher(1, Mock()).launch([make("")]).values()
    assert state == FAILED
    assert "File exists" in reason


def test_ctrl_c_lets_jobs_save_and_starts_no_more(make):
    jobs = [make(SAVES, "a"), make(SAVES, "b"), make(SAVES, "c")]
    handler = signal.getsignal(signal.SIGINT)
    interrupt(after=2)
    results = ProcessLauncher(2, Mock()).launch(jobs)
    assert set(results.values()) == {(STOPPED, "")}
    assert (jobs[0].folder / LOG).exists()
    assert not jobs[2].folder.exists()
    assert signal.getsignal(signal.SIGINT) is handler


def test_second_ctrl_c_kills(make):
    deaf = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); " + SLEEPS
    begun = time.monotonic()
    interrupt(after=1, times=2)
    assert list(ProcessLauncher(1, Mock()).launch([make(deaf)]).values()) == [(STOPPED, "")]
    assert time.monotonic() - begun < 30
