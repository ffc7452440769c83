import sys

import pytest

from agents import sweep
from agents.validation import UserError


@pytest.fixture
def commands(monkeypatch, tmp_path):
    """Stands in for the processes of the runs; what was started."""
    monkeypatch.chdir(tmp_path)
    started, statuses = [], {}

    def run(command):
        started.append(command[4:])
        return statuses.get(" ".join(command[4:]), 0)

    monkeypatch.setattr(sweep, "_run", run)
    return started, statuses


def test_runs_follow_one_another(commands, capsys):
    assert sweep.sweep(["task=fake", "seed=0,1"]) == 0
    assert commands[0] == [["task=fake", "seed=0"], ["task=fake", "seed=1"]]
    assert "run 2 of 2: task=fake seed=1\n" in capsys.readouterr().out


def test_failed_run_does_not_stop_the_others(commands, capsys):
    commands[1]["task=fake seed=0"] = 1
    assert sweep.sweep(["task=fake", "seed=0,1"]) == 1
    assert len(commands[0]) == 2
    assert capsys.readouterr().err == "failed: task=fake seed=0 (exit status 1)\n"


def test_interrupt_stops_all(commands):
    commands[1]["task=fake seed=0"] = 130
    assert sweep.sweep(["task=fake", "seed=0,1"]) == 130
    assert len(commands[0]) == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["seed=0,-1"], "seed must be at least 0, got -1"),
        (["batch_size=8,16"], "'batch_size=8' and 'batch_size=16' would share the folder"),
    ],
)
def test_all_configs_are_checked_before_the_first_run(commands, words, message):
    with pytest.raises(UserError, match=message):
        sweep.sweep(words)
    assert commands[0] == []


def test_status_is_that_of_the_process():
    assert sweep._run([sys.executable, "-c", "raise SystemExit(3)"]) == 3
