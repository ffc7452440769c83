"""Tests of agents.cli.migrate, by the command line."""

import pathlib

import pytest

from agents.__main__ import main
from agents.runs.folder import load_config, open_run
from agents.system.locking import lock_folder
from tests.agents.presets import used


@pytest.fixture
def make_earlier(tmp_path, monkeypatch):
    """Makes the folder of a run as an earlier version wrote it."""
    monkeypatch.chdir(tmp_path)

    def make(name):
        with open_run(used("task=fake", f"logdir={name}")) as run:
            text = run.config_file.read_text()
        text = text.replace("devices:", "strategy:").replace("repeat: 1", "repeat: null")
        run.config_file.write_text(text)
        return pathlib.Path(name)

    return make


def test_runs_of_a_folder_are_migrated_with_a_line_each(make_earlier, capsys):
    for name in ("runs/a", "runs/b", "c"):
        make_earlier(name)
    assert main(["migrate", "runs", "c"]) == 0
    line = "{0} is migrated; its config of before is {0}/config.earlier.yaml\n"
    expected = "".join(map(line.format, ("runs/a", "runs/b", "c")))
    assert capsys.readouterr().out == expected
    assert load_config("runs/b") == used("task=fake", "logdir=runs/b")
    assert main(["migrate", "c"]) == 0
    assert capsys.readouterr().out == "c has the form of today\n"


def test_a_run_that_cannot_be_migrated_stops_no_other(make_earlier, capsys):
    (make_earlier("runs/a") / "config.yaml").write_text("task: [")
    with lock_folder(make_earlier("runs/b")):
        make_earlier("runs/c")
        assert main(["migrate", "runs"]) == 2
    told = capsys.readouterr()
    assert told.out.startswith("runs/c is migrated; ")
    damaged, used_by = told.err.splitlines()
    assert damaged.startswith("bayes-rl: runs/a/config.yaml is damaged: line 1 ")
    assert used_by.startswith("bayes-rl: runs/b is in use by another process (")


def test_status_of_a_run_in_use_is_1(make_earlier):
    with lock_folder(make_earlier("run")):
        assert main(["migrate", "run"]) == 1
    assert main(["migrate", "run"]) == 0


@pytest.mark.parametrize("name", ["nowhere", "."])
def test_a_folder_without_runs_is_told(name, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["migrate", name]) == 2
    assert f"{name} is not the folder of a run: " in capsys.readouterr().err


COMMANDS = [
    ["train", "task=fake", "logdir=run"],
    *(
        [command, "run"]
        for command in ("evaluate", "calibrate", "plot", "probe", "video", "export")
    ),
]


@pytest.mark.parametrize("command", COMMANDS)
def test_other_commands_name_this_one_and_write_nothing(make_earlier, command, capsys):
    run = make_earlier("run")
    before = {file: file.read_bytes() for file in run.iterdir()}
    assert main(command) == 2
    assert capsys.readouterr().err == (
        "bayes-rl: run/config.yaml is of an earlier version; bring it to today's form: "
        "bayes-rl migrate run\n"
    )
    assert {file: file.read_bytes() for file in run.iterdir()} == before
