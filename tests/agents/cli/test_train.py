"""Tests of agents.cli.train, by the command line."""

import importlib
import sys
import types
from unittest import mock

import pytest

from agents.__main__ import main
from agents.runs.config import overrides
from agents.runs.config.choices import groups
from agents.runs.config.resolving import resolve
from agents.runs.config.schema import as_dict, flatten
from agents.runs.config.validation import check_key
from agents.system.errors import UserError
from agents.training import checking, trainer
from tests.agents.presets import FAKE, used

KEYS = sorted(
    set(flatten(as_dict(overrides.load([]))))
    | set(flatten(as_dict(overrides.load(["planner=icem"]))))
)


@pytest.fixture(autouse=True)
def empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def trained(monkeypatch):
    """Stands in for training; what it was called with."""
    calls = []
    monkeypatch.setattr(checking, "check", lambda config: resolve(config, FAKE))
    monkeypatch.setattr(
        trainer, "train", lambda config, run, **_: calls.append((config, run.folder))
    )
    return calls


def misspell(key):
    """The key with a letter missing, another one, and one too many."""
    place = key.rfind(".") + 1 + len(key.rpartition(".")[2]) // 2
    return [key[:place] + middle + key[place + 1 :] for middle in ("", "q", key[place] * 2)]


@pytest.mark.parametrize("key", KEYS)
def test_a_misspelt_key_is_told_the_right_one(key):
    known = [*KEYS, *{each.rpartition(".")[0] for each in KEYS} - {""}, *groups()]
    for word in misspell(key):
        with pytest.raises(UserError) as error:
            check_key(word, known)
        assert str(error.value) == f"there is no key {word!r}; did you mean {key!r}?"


@pytest.mark.parametrize(
    ("number", "key"),
    [
        pytest.param(*each, marks=[pytest.mark.slow] * (each[0] % 16 > 0))
        for each in enumerate(KEYS)
    ],
)
def test_misspelt_key_is_answered_by_one_line_and_nothing_is_written(
    number, key, capsys, tmp_path
):
    group = ["planner=icem"] if key.startswith("planner") else []
    word = misspell(key)[number % 3]
    assert main(["train", *group, f"{word}=1"]) == 2
    captured = capsys.readouterr()
    assert captured.err == f"bayes-rl: there is no key {word!r}; did you mean {key!r}?\n"
    assert captured.out == ""
    assert list(tmp_path.iterdir()) == []


def test_train_opens_the_run_and_trains_it(trained, tmp_path):
    assert main(["train", "task=fake", "seed=3"]) == 0
    ((config, folder),) = trained
    assert config == used("task=fake", "seed=3")
    assert (tmp_path / folder / "config.yaml").is_file()


def test_other_values_in_the_folder_of_a_run_are_refused(trained, capsys):
    assert main(["train", "task=fake", "logdir=run"]) == 0
    assert main(["train", "task=fake", "logdir=run", "batch_size=7"]) == 2
    assert (
        "run holds a run with other values (batch_size: 32 -> 7)" in capsys.readouterr().err
    )
    assert len(trained) == 1


def test_without_ray_a_run_of_several_processes_says_so(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert main(["train", "task=fake", "actors=2", "logdir=run"]) == 2
    assert capsys.readouterr().err == (
        "bayes-rl: ray is not installed; a run of several processes needs it: "
        "pip install 'bayes_rl[distributed]'\n"
    )
    assert list(tmp_path.iterdir()) == []


def test_a_run_of_one_process_does_not_import_ray(monkeypatch):
    with mock.patch.dict(sys.modules):  # all as it was, afterwards
        for name in [*sys.modules]:
            if name.partition(".")[0] in ("agents", "ray"):
                del sys.modules[name]
        asked = []
        finder = types.SimpleNamespace(find_spec=lambda name, *_: asked.append(name))
        monkeypatch.setattr(sys, "meta_path", [finder, *sys.meta_path])
        for name in ("agents.training.trainer", "agents.cli.train"):
            assert importlib.import_module(name) is sys.modules[name]
    assert "agents.training.trainer" in asked
    assert "ray" not in asked


@pytest.mark.slow
def test_a_task_that_cannot_be_had_starts_no_process(capfd, tmp_path):
    pytest.importorskip("ray")
    words = ["task=cartpole_swingup", "observation=pixels", "image.camera=99", "actors=1"]
    assert main(["train", *words, "logdir=run"]) == 2
    told = capfd.readouterr()
    assert "camera must be -1 (free) or one of 0 (fixed)" in told.err
    assert told.out == ""
    assert list(tmp_path.iterdir()) == []


def test_an_address_that_changes_nothing_is_refused(capsys, tmp_path):
    assert main(["train", "task=fake", "address=auto", "logdir=run"]) == 2
    assert capsys.readouterr().err == (
        "bayes-rl: address=auto changes nothing for one run of one process: add "
        "actors=N, evaluation.apart=true, or -m, which trains several runs\n"
    )
    assert list(tmp_path.iterdir()) == []


def test_print_config_writes_nothing(capsys, tmp_path):
    assert main(["train", "task=fake", "--print-config", "seed=3"]) == 0
    assert "seed: 3\n" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []


def test_sweep_starts_a_process_for_each_run(monkeypatch, capsys, tmp_path):
    command = property(lambda job: [sys.executable, "-S", "-c", "print(7)"])
    monkeypatch.setattr("agents.cli.sweep.launching.Job.command", command)
    assert main(["train", "-m", "--jobs", "2", "task=fake", "seed=0,1"]) == 0
    assert "2 of 2 runs done" in capsys.readouterr().out
    logs = sorted(tmp_path.glob("logdir/fake/*/*/output.log"))
    assert [log.read_text() for log in logs] == ["7\n", "7\n"]


@pytest.mark.parametrize(
    ("option", "line"),
    [("--print-config", "task: fake\n"), ("--print-commands", "bayes-rl train task=fake ")],
)
def test_configs_and_commands_of_a_sweep_are_printed(option, line, capsys, tmp_path):
    assert main(["train", "-m", option, "task=fake", "seed=0,1"]) == 0
    assert capsys.readouterr().out.count(line) == 2
    assert list(tmp_path.iterdir()) == []
