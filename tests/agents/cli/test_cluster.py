"""Tests of agents.cli.cluster: the script runs by stand-ins of Slurm."""

import os
import subprocess
import sys

import pytest

from agents.__main__ import main

# Leaves out srun's own options and runs the rest.
SRUN = """#!/bin/bash
while [[ $1 == -* ]]; do shift; done
exec "$@"
"""
SCONTROL = "#!/bin/bash\necho 127.0.0.1\n"
# Notes how each role was started; when all are, the learner dies once before it ends
# as it should.
ROLE = """#!{python}
import pathlib, sys, time
note = pathlib.Path("started")
counts = {{"server": 1, "actor": 2, "learner": 1 + ("learners=2" in sys.argv)}}
def started():
    return [line.split()[0] for line in note.read_text().splitlines()]
with note.open("a") as file:
    print(*sys.argv[1:], file=file)
if sys.argv[1] == "learner":
    while any(started().count(role) < count for role, count in counts.items()):
        time.sleep(0.05)
    sys.exit({status} if started().count("learner") == 1 else 0)
time.sleep(60)
"""


@pytest.fixture
def job(tmp_path, capsys):
    """Writes the job script and the programs that it calls; runs it."""

    def run(status, *words):
        options = ["--actors", "2", "--gpus", "3", "--cores", "5"]
        assert main(["cluster", "slurm", *options, *words]) == 0
        script = capsys.readouterr().out
        role = ROLE.format(python=sys.executable, status=status)
        programs = {
            "srun": SRUN,
            "scontrol": SCONTROL,
            "bayes-rl": role,
            "sleep": "#!/bin/sh",
        }
        for name, code in programs.items():
            (tmp_path / name).write_text(code)
            (tmp_path / name).chmod(0o755)
        slurm = {"SLURM_JOB_ID": "41234", "SLURM_JOB_NODELIST": "node[0-3]"}
        path = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
        done = subprocess.run(
            ["bash"],
            input=script,
            text=True,
            cwd=tmp_path,
            env=os.environ | slurm | path,
            timeout=60,
            start_new_session=True,
            capture_output=True,
        )
        return script, done.returncode, (tmp_path / "started").read_text().splitlines()

    return run


def test_each_role_is_started_and_a_dead_learner_again(job):
    script, status, started = job(137, "task=fake", "logdir=a folder/run")
    words = "--server 127.0.0.1:21234 {}task=fake logdir=a folder/run actors=2"
    expected = [
        "server " + words.format(""),
        "actor " + words.format("--number 0 "),
        "actor " + words.format("--number 1 "),
        *["learner " + words.format("")] * 2,
    ]
    assert (sorted(started), status) == (sorted(expected), 0)
    assert "#SBATCH --ntasks=4\n#SBATCH --cpus-per-task=5\n" in script
    assert "srun --exact --nodes=1 --ntasks=1 --cpus-per-task=5 " in script
    assert "#SBATCH --gpus=3\n" in script


def test_learners_are_placed_on_nodes_and_know_each_other(job):
    words = ["task=fake", "logdir=run", "learners=2", "devices=multi_worker"]
    script, status, started = job(0, *words)
    assert status == 0
    common = "learner --server 127.0.0.1:21234 --number {} --learners {} " + " ".join(words)
    addresses = "127.0.0.1:21235,127.0.0.1:21236"
    learners = sorted(line for line in started if line.startswith("learner"))
    expected = [common.format(number, addresses) + " actors=2" for number in range(2)]
    assert learners == expected
    assert "#SBATCH --ntasks=5\n" in script
    assert "#SBATCH --gpus=6\n" in script


def test_what_was_typed_wrongly_ends_the_job(job):
    _, status, started = job(2, "task=fake", "logdir=run")
    assert status == 2
    assert sum(line.startswith("learner") for line in started) == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["slurm", "--actors", "2", "actors=3"], "leave out actors=N"),
        (["slurm", "--actors", "0"], "must be a whole number of at least 1, got '0'"),
        (["slurm", "--actors", "2", "task=fakes"], "fakes"),
        (["pbs", "--actors", "2"], "invalid choice: 'pbs' (choose from 'slurm')"),
    ],
)
def test_a_script_that_could_not_run_is_not_printed(words, message, capsys):
    assert main(["cluster", *words]) == 2
    told = capsys.readouterr()
    assert message in told.err
    assert told.out == ""
