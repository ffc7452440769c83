"""Tests of agents.cli.sweep.sweep."""

import fcntl
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

import pytest

from agents.cli.sweep import launching, sweep
from agents.runs.config import overrides
from agents.runs.history import Follower, is_finished
from agents.runs.records import read_metrics, read_sessions
from agents.system.errors import UserError

# Stands in for training: does what `trouble` beside the run's folder says, or finishes.
TRAIN = """
import json, os, pathlib, sys
folder = pathlib.Path(sys.argv[1])
trouble = folder.with_suffix(".trouble")
if trouble.exists():
    what = trouble.read_text()
    trouble.unlink()
    if what == "kill":
        os.kill(os.getpid(), 9)
    sys.exit("bayes-rl: " + what)
with open(folder / "metrics.jsonl", "a") as file:
    file.write(json.dumps({"episodes": 1, "environment_steps": 400}) + chr(10))
(folder / "checkpoints" / "1").mkdir(parents=True)
"""


@pytest.fixture
def fake(monkeypatch, tmp_path):
    """Runs that end at once; the folder of all."""
    monkeypatch.chdir(tmp_path)
    command = property(lambda job: [sys.executable, "-S", "-c", TRAIN, str(job.folder)])
    monkeypatch.setattr(launching.Job, "command", command)
    # another folder would not be taken for a run
    monkeypatch.setattr(sweep, "check_run", lambda config: None)
    return tmp_path


WORDS = ["experiment=debug", "logdir=runs/${seed}"]
TWELVE = [*WORDS, "seed=range(12)"]


def started(folder):
    return {path.parent.name for path in folder.glob("runs/*/output.log")}


@pytest.mark.slow
def test_a_killed_and_a_failed_run_of_12_are_completed_by_the_same_command(fake, capsys):
    (fake / "runs").mkdir()
    (fake / "runs" / "3.trouble").write_text("kill")
    (fake / "runs" / "7.trouble").write_text("no space left")
    assert sweep.sweep(TWELVE, 3) == 1
    output = capsys.readouterr()
    assert output.err.splitlines() == [
        "failed: seed=3: killed by SIGKILL; see runs/3",
        "failed: seed=7: no space left (exit status 1); see runs/7",
        "the same command trains the missing runs",
    ]
    assert "10 of 12 runs done, 2 failed" in output.out
    for log in fake.glob("runs/*/output.log"):
        log.unlink()
    assert sweep.sweep(TWELVE, 3) == 0
    assert started(fake) == {"3", "7"}
    assert "12 of 12 runs done" in capsys.readouterr().out


def test_a_finished_sweep_starts_nothing(fake):
    assert sweep.sweep([*WORDS, "seed=0,1"]) == 0
    for log in fake.glob("runs/*/output.log"):
        log.unlink()
    assert sweep.sweep([*WORDS, "seed=0,1"]) == 0
    assert started(fake) == set()
    assert sweep.sweep([*WORDS, "seed=0,1", "environment_steps=800"]) == 1, "made longer"
    assert started(fake) == {"0", "1"}


# The program `bayes-rl`, where it is found first: notes its words and runs TRAIN.
PROGRAM = f"""#!{sys.executable} -S
import sys
open("words", "a").write(repr(sys.argv[1:]) + chr(10))
_, _, seed, logdir = sys.argv[1:]
sys.argv[1] = eval(logdir.partition("=")[2]).replace("${{seed}}", seed.partition("=")[2])
{TRAIN}
"""


def test_printed_commands_run_what_is_missing_by_a_shell(fake, capsys):
    program = fake / "bin" / "bayes-rl"
    program.parent.mkdir()
    program.write_text(PROGRAM)
    program.chmod(0o755)
    logdir = 'logdir="it\'s $HOME; #/${seed}"'
    finished = [sys.executable, "-S", "-c", TRAIN, "it's $HOME; #/1"]
    for seed in range(3):
        (fake / "it's $HOME; #" / str(seed)).mkdir(parents=True)
    subprocess.run(finished, check=True)
    sweep.print_commands(["experiment=debug", "seed=0,1,2", logdir])
    printed = capsys.readouterr()
    assert printed.err == "2 of 3 runs are missing\n"
    subprocess.run(
        ["xargs", "-d", "\n", "-n", "1", "sh", "-c"],
        input=printed.out,
        env=os.environ | {"PATH": f"{program.parent}:{os.environ['PATH']}"},
        text=True,
        check=True,
    )
    words = [repr(["train", "experiment=debug", f"seed={seed}", logdir]) for seed in (0, 2)]
    assert (fake / "words").read_text().splitlines() == words
    sweep.print_commands(["experiment=debug", "seed=0,1,2", logdir])
    assert capsys.readouterr() == ("", "0 of 3 runs are missing\n")


def test_ctrl_c_before_all_have_run_ends_with_130(fake, monkeypatch, capsys):
    def launch(self, jobs):
        return dict.fromkeys(jobs, (launching.STOPPED, ""))

    monkeypatch.setattr(launching.ProcessLauncher, "launch", launch)
    assert sweep.sweep([*WORDS, "seed=0,1"]) == 130
    assert capsys.readouterr().err == "stopped; the same command resumes\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["seed=0,-1"], "seed must be at least 0, got -1"),
        (["batch_size=8,16"], "'batch_size=8' and 'batch_size=16' would share the folder"),
        (["actors=0,2", "address=auto"], "address= needs the same address for all"),
    ],
)
def test_all_is_checked_before_the_first_run(words, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match=message):
        sweep.sweep(words, 1)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], 8),
        (["threads=3"], 2),
        (["threads=0"], 1),
        (["devices=mirrored"], 1),
        (["actors=3"], 1),  # an evaluator beside them
        (["actors=3", "evaluation.apart=false"], 2),
        (["environments=4"], 2),
    ],
)
def test_runs_share_the_cores(words, expected, monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)))
    monkeypatch.setattr(sweep, "_GPU", "/dev/none")
    config = overrides.load(words)
    assert sweep.default_at_once([config]) == expected
    monkeypatch.setattr(sweep, "_GPU", "/dev/null")
    assert sweep.default_at_once([config]) == 1


def test_runs_are_named_by_what_differs():
    runs = [["task=fake", "seed=0"], ["task=fake", "seed=1"]]
    assert sweep._names(runs) == ["seed=0", "seed=1"]
    assert sweep._names(runs[:1]) == ["task=fake seed=0"]


def wait_for(happened, seconds=300):
    end = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_real_runs_killed_and_locked_out_are_completed(tiny_words, tmp_path, capfd):
    words = [
        *tiny_words,
        "environment_steps=100",
        "evaluation.every_steps=0",
        "video_every_steps=0",
    ]
    words += ["explore=greedy,information_gain", "seed=range(6)"]
    words.append(f"logdir={tmp_path}/${{explore.kind}}_${{seed}}")
    configs = [overrides.load(run) for run in overrides.expand(words)]
    victim, locked = (pathlib.Path(configs[index].logdir) for index in (1, 8))
    locked.mkdir()
    held = open(locked / ".lock", "w")  # noqa: SIM115  until the first sweep has ended
    fcntl.flock(held, fcntl.LOCK_EX)

    def kill():
        follower = Follower(victim)
        wait_for(follower.update)
        os.kill(int((victim / ".lock").read_text()), signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    assert sweep.sweep(words, 3) == 1
    killer.join()
    assert [is_finished(config) for config in configs].count(False) == 2
    errors = capfd.readouterr().err
    assert "killed by SIGKILL" in errors
    assert "is in use by another process" in errors
    held.close()
    sessions = {path: path.read_text() for path in tmp_path.glob("*/sessions.jsonl")}
    assert sweep.sweep(words, 3) == 0
    assert all(is_finished(config) for config in configs)
    again = {path.parent for path, text in sessions.items() if path.read_text() != text}
    assert again == {victim}, "finished runs are not started again"


SWEEP = "import sys; from agents.cli.sweep import sweep; sweep.sweep(sys.argv[1:], 2)"


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_runs_of_a_killed_sweep_are_whole_and_the_same_command_goes_on(
    tiny_words, tmp_path
):
    words = [
        *tiny_words,
        "environment_steps=800",
        "evaluation.every_steps=0",
        "video_every_steps=0",
    ]
    words += ["value=none", "seed=0,1", f"logdir={tmp_path}/${{seed}}"]
    killed = subprocess.Popen([sys.executable, "-c", SWEEP, *words])
    runs = [tmp_path / "0", tmp_path / "1"]
    wait_for(lambda: all(len(read_metrics(run)) > 2 for run in runs), seconds=120)
    killed.kill()
    killed.wait()
    assert sweep.sweep(words, 2) == 0
    for run in runs:
        assert [row["episodes"] for row in read_metrics(run)] == list(range(1, 41))
        first, second = read_sessions(run)
        assert (first["episodes"], second["episodes"] >= 2) == (0, True)
        assert not (run / "checkpoints" / "damaged").exists()
