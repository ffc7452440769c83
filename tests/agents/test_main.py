import json
import pathlib
import subprocess
import sys
import types

import pytest
import yaml

from agents.__main__ import main
from agents.config import choices, overrides
from agents.config.schema import as_dict, flatten
from agents.errors import UserError

KEYS = sorted(
    set(flatten(as_dict(overrides.load([]))))
    | set(flatten(as_dict(overrides.load(["planner=icem"]))))
)
_COMMANDS = ("train", "evaluate", "probe", "calibrate", "plot", "compare", "video")
ROOT = pathlib.Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def replace_training(monkeypatch, train):
    module = types.SimpleNamespace(train=train, check=lambda config: None)
    monkeypatch.setitem(sys.modules, "agents.training.trainer", module)


@pytest.fixture
def trained(monkeypatch):
    """Stands in for training; what it was called with."""
    calls = []

    def train(config, run):
        calls.append((config, run.folder))

    replace_training(monkeypatch, train)
    return calls


def misspell(key):
    """The key with a letter missing, another one, and one too many."""
    place = key.rfind(".") + 1 + len(key.rpartition(".")[2]) // 2
    return [key[:place] + middle + key[place + 1 :] for middle in ("", "q", key[place] * 2)]


@pytest.mark.parametrize("key", KEYS)
def test_misspelt_key_is_answered_by_one_line_and_nothing_is_written(key, capsys, tmp_path):
    group = ["planner=icem"] if key.startswith("planner") else []
    for word in misspell(key):
        assert main(["train", *group, f"{word}=1"]) == 2
        captured = capsys.readouterr()
        expected = f"bayes-rl: there is no key {word!r}; did you mean {key!r}?\n"
        assert captured.err == expected
        assert captured.out == ""
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["trian"], "there is no command 'trian'; did you mean 'train'?"),
        (["-m", "train"], "options come after the command: bayes-rl train -m ..."),
        (
            ["train", "--multrun"],
            "train has no option '--multrun'; did you mean '--multirun'?",
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
        (["compare", "."], ". is no run, and there are no runs below it"),
        (["train", "--jobs", "2"], "--jobs is the number of runs at the same time; it"),
        (["train", "-m", "--jobs", "0"], "of at least 1, got '0'"),
        (["train", "-m", "hydra/launcher=slrm", "seed=0"], "got 'slrm'; pip install"),
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


def test_train_opens_the_run_and_trains_it(trained, tmp_path):
    assert main(["train", "task=fake", "seed=3"]) == 0
    ((config, folder),) = trained
    assert config == overrides.load(["task=fake", "seed=3"])
    assert (tmp_path / folder / "config.yaml").is_file()


def test_other_values_in_the_folder_of_a_run_are_refused(trained, capsys):
    assert main(["train", "task=fake", "logdir=run"]) == 0
    assert main(["train", "task=fake", "logdir=run", "batch_size=7"]) == 2
    assert (
        "run holds a run with other values (batch_size: 32 -> 7)" in capsys.readouterr().err
    )
    assert len(trained) == 1


def test_print_config_writes_nothing(capsys, tmp_path):
    assert main(["train", "task=fake", "--print-config", "seed=3"]) == 0
    assert "seed: 3\n" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []


def test_interrupt_ends_with_130(monkeypatch):
    def train(config, run):
        raise KeyboardInterrupt

    replace_training(monkeypatch, train)
    assert main(["train", "task=fake"]) == 130


def test_mistake_found_during_the_run_is_one_line(monkeypatch, capsys):
    def train(config, run):
        raise UserError("strategy tpu needs a TPU")

    replace_training(monkeypatch, train)
    assert main(["train", "task=fake"]) == 2
    assert capsys.readouterr().err == "bayes-rl: strategy tpu needs a TPU\n"


def test_sweep_starts_a_process_for_each_run(monkeypatch, capsys, tmp_path):
    command = property(lambda job: [sys.executable, "-S", "-c", "print(7)"])
    monkeypatch.setattr("agents.sweep.processes.Job.command", command)
    assert main(["train", "-m", "--jobs", "2", "task=fake", "seed=0,1"]) == 0
    assert "2 of 2 runs done" in capsys.readouterr().out
    logs = sorted(tmp_path.glob("logdir/fake/noise/*/output.log"))
    assert [log.read_text() for log in logs] == ["7\n", "7\n"]


def test_configs_of_a_sweep_are_printed_without_its_launcher(capsys):
    words = ["hydra/launcher=basic", "task=fake", "seed=0,1"]
    assert main(["train", "-m", "--print-config", *words]) == 0
    assert capsys.readouterr().out.count("task: fake") == 2


def test_compare_names_its_files(capsys, tmp_path):
    config = overrides.load(["task=fake", "seed_episodes=1", f"logdir={tmp_path}"])
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(as_dict(config)))
    row = {"episodes": 2, "environment_steps": 20, "explore/reached_reward": True}
    (tmp_path / "metrics.jsonl").write_text(json.dumps(row) + "\n")
    assert main(["compare", str(tmp_path), "--out", "out"]) == 0
    assert "out/exploration.csv\nout/runs.csv\n" in capsys.readouterr().out
    assert (tmp_path / "out" / "first_reward.png").exists()


def test_plot_names_its_figures(capsys, tmp_path):
    config = overrides.load(["task=fake", f"logdir={tmp_path}"])
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(as_dict(config)))
    row = {"episodes": 1, "environment_steps": 20, "collect/return": 1.0}
    (tmp_path / "metrics.jsonl").write_text(json.dumps(row) + "\n")
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


def test_help_of_train_shows_every_key_and_choice(capsys):
    main(["train", "--help"])
    output = capsys.readouterr().out
    assert all(
        key.rpartition(".")[2] in output for key in flatten(as_dict(overrides.load([])))
    )
    for group, names in choices.groups().items():
        assert all(f"{group}={name}" in output for name in names)


@pytest.mark.parametrize(
    "argv", [["train", "--help"], ["train", "planner.candidats=3"], ["evaluate", "nowhere"]]
)
def test_tensorflow_is_not_imported_before_the_config_is_right(argv, tmp_path):
    code = (
        "import sys; from agents.__main__ import main; status = main(sys.argv[1:]); "
        "heavy = {'tensorflow', 'tf_agents', 'dm_control', 'gym'} & set(sys.modules); "
        "sys.exit(f'imported {heavy}' if heavy else status)"
    )
    result = subprocess.run(
        [sys.executable, "-c", code, *argv],
        env={"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert "imported" not in result.stderr
    assert result.returncode == (0 if "--help" in argv else 2)
    assert "Traceback" not in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_module_is_the_command(tmp_path):
    result = subprocess.run(
        [sys.executable, "-m", "agents", "--version"],
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith("bayes-rl")
