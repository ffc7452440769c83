"""Tests of agents.sweep.launchers, with the launcher that comes with Hydra."""

import sys

import pytest

from agents.errors import UserError
from agents.sweep import launchers, processes, sweep
from tests.agents.sweep.test_sweep import TRAIN


def test_words_reach_the_function_through_hydra(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    seen = []

    def run(words):
        seen.append(words)
        if "seed=1" in words:
            raise ValueError("no space\nleft")
        return "was killed" if "seed=2" in words else ""

    jobs = [["experiment=null", "task=fake", f"seed={seed}"] for seed in range(3)]
    errors = launchers.launch(["hydra/launcher=basic"], jobs, run)
    assert errors == ["", "no space left", "was killed"]
    assert seen == [["task=fake", f"seed={seed}"] for seed in range(3)]


def test_sweep_by_a_launcher_of_hydra_is_resumed_too(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    command = property(lambda job: [sys.executable, "-S", "-c", TRAIN, str(job.folder)])
    monkeypatch.setattr(processes.Job, "command", command)
    monkeypatch.setattr(sweep, "check_run", lambda config: None)
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "1.trouble").write_text("kill")
    words = ["hydra/launcher=basic", "experiment=debug", "logdir=runs/${seed}"]
    words.append("seed=0,1")
    assert sweep.sweep(words) == 1
    assert "failed: seed=1: killed by SIGKILL; see runs/1" in capsys.readouterr().err
    assert sweep.sweep(words) == 0
    assert capsys.readouterr().out.startswith("runs that go to hydra/launcher=basic: 1\n")
    assert sweep.sweep(words) == 0


def test_unknown_launcher_is_an_error_of_one_line():
    with pytest.raises(UserError, match=r"installed \(basic\), got 'slrm'; pip install"):
        launchers.launch(["hydra/launcher=slrm"], [["seed=0"]], lambda words: "")


def test_setting_that_a_launcher_lacks_is_an_error_of_one_line():
    words = ["hydra/launcher=basic", "hydra.launcher.timeout_min=3"]
    with pytest.raises(UserError, match="timeout_min") as error:
        launchers.launch(words, [["seed=0"]], lambda words: "")
    assert "\n" not in str(error.value)
