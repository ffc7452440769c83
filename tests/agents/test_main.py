"""Tests of agents.__main__."""

import errno
import importlib
import inspect
import io
import json
import pathlib
import subprocess
import sys
import tempfile

import pytest
import yaml
from rich.console import Console

import agents.__main__ as program
import envs
from agents.__main__ import main
from agents.runs.config.schema import as_dict
from agents.system.errors import InUseError, UserError
from tests.agents.presets import used

_COMMANDS = ("train", "evaluate", "probe", "calibrate", "plot", "compare", "video")
_COMMANDS += ("migrate",)
ROOT = pathlib.Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_lines_are_plain_in_a_notebook_whose_commands_get_a_terminal(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    for name in ("JPY_PARENT_PID", "TTY_COMPATIBLE"):  # put back in the end
        monkeypatch.setenv(name, "1")
        monkeypatch.delenv(name)
    main(["--version"])
    assert Console(file=Terminal()).is_terminal
    monkeypatch.setenv("JPY_PARENT_PID", "1")
    main(["--version"])
    assert not Console(file=Terminal()).is_terminal


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["trian"], "there is no command 'trian'; did you mean 'train'?"),
        (["-m", "train"], "options come after the command: bayes-rl train -m ..."),
        (
            ["train", "--multrun"],
            "train has no option '--multrun'; did you mean '--multirun'?",
        ),
        (
            ["train", "strategy=mirrored"],
            "strategy is called devices now: write devices=mirrored",
        ),
        (["train", "batch_size=-3"], "batch_size must be at least 1, got -3"),
        (["train", "task=cartpole_swingp"], "did you mean 'cartpole_swingup'?"),
        (["train", "explore=gredy"], "got 'gredy'; did you mean 'greedy'?"),
        (
            ["train", "-m", "seed=0,1", "sed=2"],
            "there is no key 'sed'; did you mean 'seed'?",
        ),
        (["train", "-m", "batch_size=8,16"], "would share the folder"),
        (["evaluate"], "the following arguments are required: RUN"),
        (["evaluate", "x", "--episodes", "0"], "of at least 1, got '0'"),
        (["evaluate", "nowhere"], "nowhere is not the folder of a run"),
        (["video", "nowhere"], "nowhere is not the folder of a run"),
        (["probe", "nowhere"], "nowhere is not the folder of a run"),
        (["probe", "x", "--episodes", "many"], "of at least 1, got 'many'"),
        (["probe", "x", "--episode", "3"], "did you mean '--episodes'?"),
        (["calibrate", "nowhere"], "nowhere is not the folder of a run"),
        (["calibrate", "a", "b", "c"], "calibrate has no argument 'c'"),
        (["video", "a", "b"], "video has no argument 'b'"),
        (["plot", "."], "is not the folder of a run: it has no config.yaml"),
        (["compare", "."], ". is not the folder of a run, and no runs are below it"),
        (["train", "--jobs", "2"], "--jobs needs -m, which trains several runs"),
        (["train", "-m", "--jobs", "0"], "of at least 1, got '0'"),
        (
            ["train", "--print-commands"],
            "--print-commands needs -m, which takes several values",
        ),
        (
            ["train", "-m", "hydra/launcher=submitit_slurm", "seed=0"],
            "got 'hydra/launcher=submitit_slurm'; use --print-commands: it prints",
        ),
    ],
)
def test_mistake_is_answered_by_one_line_and_nothing_is_written(
    argv, message, capsys, tmp_path
):
    assert main(argv) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (KeyboardInterrupt(), 130, "stopped"),
        (UserError("devices=tpu needs a TPU"), 2, "bayes-rl: devices=tpu needs a TPU"),
        (InUseError("x is in use"), 1, "bayes-rl: x is in use"),
    ],
)
def test_end_of_a_command_is_told_in_a_line(error, status, said, monkeypatch, capsys):
    def train(**words):
        raise error

    monkeypatch.setattr("agents.cli.train.train", train)
    assert main(["train", "task=fake"]) == status
    assert capsys.readouterr().err == f"{said}\n"


@pytest.mark.parametrize("name", ["evaluate", "probe", "calibrate", "video", "export"])
def test_words_of_a_command_reach_its_function(name, monkeypatch, tmp_path):
    write_run(tmp_path / "run", {})
    module = importlib.import_module(f"agents.cli.{name}")
    signature, calls = inspect.signature(getattr(module, name)), []
    monkeypatch.setattr(module, name, lambda **words: calls.append(signature.bind(**words)))
    assert main([name, "run"]) == 0
    assert calls[0].arguments["run"] == "run"
    assert main([name, "nowhere"]) == 2


def write_run(folder, row):
    folder.mkdir(exist_ok=True)
    config = used("task=fake", "seed_steps=20", f"logdir={folder}")
    (folder / "config.yaml").write_text(yaml.safe_dump(as_dict(config)))
    row = {"episodes": 2, "environment_steps": 20, "collect/return": 1.0} | row
    (folder / "metrics.jsonl").write_text(json.dumps(row) + "\n")


def test_an_environment_that_failed_ends_a_command_with_one_line(capsys, monkeypatch):
    def fail(options):
        raise envs.EnvironmentFailedError("the process of environment 0 of 2 has ended")

    monkeypatch.setattr(program, "_do", fail)
    assert main(["compare", "run"]) == 1
    said = capsys.readouterr()
    assert said.err == "bayes-rl: the process of environment 0 of 2 has ended\n"


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (
            OSError(errno.ENOSPC, "No space left on device", "runs/1/scores.csv"),
            "No space left on device: runs/1/scores.csv",
        ),
        (OSError(errno.EROFS, "Read-only file system"), "Read-only file system"),
    ],
)
def test_a_disk_that_refuses_ends_a_command_with_one_line(error, line, capsys, monkeypatch):
    def fail(options):
        raise error

    monkeypatch.setattr(program, "_do", fail)
    assert main(["compare", "run"]) == 1
    assert capsys.readouterr().err == f"bayes-rl: {line}\n"


def test_an_error_of_the_system_that_is_not_of_a_disk_is_raised(monkeypatch):
    def fail(options):
        raise ConnectionResetError(errno.ECONNRESET, "Connection reset by peer")

    monkeypatch.setattr(program, "_do", fail)
    with pytest.raises(ConnectionResetError):
        main(["compare", "run"])


@pytest.mark.parametrize("name", ["evaluate", "probe", "calibrate", "video", "export"])
def test_a_run_that_cannot_be_written_to_is_told_before_anything_is_done(
    name, monkeypatch, tmp_path, capsys
):
    def refuse(**words):
        raise OSError(errno.EROFS, "Read-only file system")

    write_run(tmp_path / "run", {})
    monkeypatch.setattr(tempfile, "TemporaryDirectory", refuse)
    monkeypatch.setattr(importlib.import_module(f"agents.cli.{name}"), name, None)
    assert main([name, "run"]) == 2
    assert capsys.readouterr().err == (
        "bayes-rl: cannot write to run: Read-only file system\n"
    )


@pytest.mark.parametrize("name", ["evaluate", "probe", "calibrate", "video", "export"])
def test_a_command_on_a_run_writes_to_another_folder(name, monkeypatch, tmp_path):
    write_run(tmp_path / "run", {})
    module, calls, asked = importlib.import_module(f"agents.cli.{name}"), [], []
    signature = inspect.signature(getattr(module, name))
    monkeypatch.setattr(module, name, lambda **words: calls.append(signature.bind(**words)))
    monkeypatch.setattr(program, "output_folder", asked.append)  # of the run nothing
    assert main([name, "run", "--out", "elsewhere"]) == 0
    assert asked == [calls[0].arguments["out"]] == ["elsewhere"]


def test_compare_names_its_files(capsys, tmp_path):
    write_run(tmp_path, {"explore/reached_reward": True, "explore/is_random": False})
    assert main(["compare", str(tmp_path), "--out", "out"]) == 0
    assert "out/exploration.csv\nout/runs.csv\n" in capsys.readouterr().out
    assert (tmp_path / "out" / "first_reward.png").exists()


def test_plot_names_its_figures(capsys, tmp_path):
    write_run(tmp_path, {})
    assert main(["plot", str(tmp_path)]) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'figures' / 'returns.png'}\n"


@pytest.mark.parametrize(
    "command",
    [
        [],
        *([name] for name in _COMMANDS),
    ],
)
def test_help_says_how_to_use_the_command(command, capsys):
    assert main([*command, "--help"]) == 0
    output = capsys.readouterr().out
    assert output.startswith(" ".join(["usage: bayes-rl", *command]))


# What takes long to import.
HEAVY = {"tensorflow", "tf_agents", "dm_control", "gym", "scipy", "sklearn"}
HEAVY |= {"matplotlib", "numpy", "hydra", "rich"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("argv", "status", "needed"),
    [
        (["evaluate", "--help"], 0, set()),
        (["train", "--help"], 0, set()),
        (["evaluate", "nowhere"], 2, set()),
        (["train", "planner.candidats=3"], 2, {"hydra"}),
        (["plot", "run"], 0, {"matplotlib", "numpy"}),
        (["compare", "run"], 0, {"matplotlib", "numpy", "rich"}),
    ],
)
def test_what_takes_long_to_import_is_imported_where_it_is_needed(
    argv, status, needed, tmp_path
):
    write_run(tmp_path / "run", {"explore/reached_reward": True})
    code = (
        "import sys; from agents.__main__ import main; status = main(sys.argv[1:]); "
        f"print(*({HEAVY} & set(sys.modules)), file=sys.stderr); sys.exit(status)"
    )
    result = subprocess.run(
        [sys.executable, "-c", code, *argv],
        env={"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert set(result.stderr.splitlines()[-1].split()) == needed
    assert result.returncode == status
    assert "Traceback" not in result.stderr
    written = {path.name for path in tmp_path.iterdir()} - {"run", "comparison"}
    assert written == set()


def run_python(folder, *words):
    return subprocess.run(
        [sys.executable, *words],
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        cwd=folder,
        timeout=30,
    )


def test_module_is_the_command(tmp_path):
    result = run_python(tmp_path, "-m", "agents", "--version")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith("bayes-rl")


LOGGED = """
import logging
from agents import __main__ as entry
from agents.cli import plot

def tell(runs, out):
    logging.info("as a library may")
    logging.getLogger("envs").warning("an episode is left out")

plot.plot = tell
entry.main(["plot", "run"])
"""


def test_what_is_told_stays_plain_whatever_a_library_logs(tmp_path):
    result = run_python(tmp_path, "-c", LOGGED)
    assert result.stderr == "an episode is left out\n"


SLOW_TO_END = """
import atexit, sys, time
from agents import __main__ as entry

class Graph:
    def __del__(self):
        time.sleep(60)

graph = Graph()
atexit.register(lambda: print("libraries have tidied up"))
from agents.cli import plot
plot.plot = lambda runs, out: print("done") or 1
sys.argv = ["bayes-rl", "plot", "run"]
entry.run()
"""


def test_the_process_ends_with_its_command_whatever_there_is_to_free(tmp_path):
    result = run_python(tmp_path, "-c", SLOW_TO_END)
    assert (result.returncode, result.stderr) == (1, "")
    assert result.stdout == "done\nlibraries have tidied up\n"
