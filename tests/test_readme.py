"""The README is true: its commands are understood, its files exist, its code runs."""

import functools
import pathlib
import re
import shlex
import subprocess
import sys
import types

import pytest
import yaml

from agents.config import overrides

ROOT = pathlib.Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
EXPERIMENTS = yaml.safe_load((ROOT / "results" / "experiments.yaml").read_text())
RESULTS = [command for each in EXPERIMENTS.values() for command in each["commands"]]
COMMANDS = re.findall(r"`(bayes-rl train [^`]*)`", README) + [
    command for command in RESULTS if command.startswith("bayes-rl train")
]


@functools.cache
def load(*words):
    return overrides.load(list(words))


@pytest.mark.parametrize(
    "command", [c for c in COMMANDS if "..." not in c and "--help" not in c]
)
def test_train_command_composes(command):
    arguments = shlex.split(command)[2:]
    words = [word for word in arguments if "=" in word]
    runs = overrides.expand(words) if "-m" in arguments else [words]
    folders = [load(*run).logdir for run in near(runs)]
    assert len(set(folders)) == len(folders)


def near(runs):
    """The first of many runs, and those that differ from it in a word; of seeds one."""
    found = {}
    for run in runs:
        words = [word for word, first in zip(run, runs[0], strict=True) if word != first]
        if len(words) < 2:
            is_seed = "".join(words).startswith("seed=")
            found.setdefault("seed" if is_seed else "".join(words), run)
    return found.values()


def test_train_commands_do_not_meet_in_a_folder():
    runs = {}
    for command in COMMANDS:
        words = shlex.split(command)[2:]
        if command in RESULTS or "-m" in words or "--print-config" in words:
            continue
        if "..." not in command and "--help" not in words:
            config = load(*words)
            assert runs.setdefault(config.logdir, config) == config, command


def test_commands_are_some_to_a_shell():
    for command in {*COMMANDS, *RESULTS}:
        subprocess.run(["bash", "-n", "-c", command], check=True)


def test_make_targets_exist():
    for target in set(re.findall(r"make (train|test|bench|check|slow)\b", README)):
        subprocess.run(["make", "-n", target], cwd=ROOT, check=True, capture_output=True)


def test_files_exist():
    table = README.partition("## Where to change what")[2].partition("\n## ")[0]
    for path in re.findall(r"`((?:agents|bayes_rl|configs|envs)/[^`]*)`", table):
        assert (ROOT / path).exists(), path
    for path in re.findall(r"\]\(([^)#]+)\)", README):
        assert (ROOT / path).exists(), path


def example(section):
    """The Python of a section."""
    text = README.partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    return code


def test_own_environment_of_the_example_is_one(tmp_path, monkeypatch):
    import envs

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "hover.py").write_text(example("Your own environment"))
    config = overrides.load(["task=python:hover:Hover"])
    assert config.logdir == "logdir/python_hover_Hover/noise/0"
    environment = envs.load(config.task, seed=1)
    assert environment.entries == {("height",): 1, ("speed",): 1}
    step, count = environment.reset(), 0
    height = step.observation["observation"][0]
    while not step.is_last():
        step, count = environment.step([1.0]), count + 1
    assert (count, float(step.discount)) == (100, 1.0)
    # speed n / 10 after n steps: height + sum of n / 100
    assert step.observation["observation"] == pytest.approx([height + 50.5, 10.0], rel=1e-5)


def test_agent_of_the_example_acts(monkeypatch):
    import agents

    given = {}
    loaded = types.SimpleNamespace(reset=lambda: None, act=lambda seen: seen)
    monkeypatch.setattr(
        agents, "load", lambda run: given.update(run=run) or loaded, raising=False
    )
    names = {"observation": [0.5]}
    exec(example("Acting elsewhere"), names)  # noqa: S102  the example of the README
    assert names["action"] == [0.5]
    assert given == {"run": overrides.load([]).logdir}


@pytest.fixture(scope="module")
def layer_example():
    """The code of the example, and its names after it ran."""
    import tensorflow as tf

    tf.keras.utils.set_random_seed(0)
    code, names = example("Layers on their own"), {}
    exec(code, names)  # noqa: S102  the example of the README
    return code, names


def test_layer_example_runs(layer_example):
    _, names = layer_example
    assert names["outputs"].shape == (5, 450, 10)


@pytest.mark.slow
def test_layer_example_is_as_good_as_its_deterministic_twin(layer_example):
    import numpy as np

    def accuracy(names):
        return np.mean(np.argmax(names["probs"], -1) == names["test_labels"])

    (code, names), twin = layer_example, {}
    # It takes the same steps.
    code = code.replace("ed.layers.DenseFlipout", "tf.keras.layers.Dense")
    code = code.partition("draws =")[0].replace("ed.scale_kl", "# ed.scale_kl")
    exec(code, twin)  # noqa: S102  the example of the README
    assert accuracy(names) > accuracy(twin) - 0.02


def test_layers_of_the_table_exist():
    import bayes_rl as ed

    table = README.partition("| idea | layers")[2].partition("\n\n")[0]
    rows = [row.split("|")[2:4] for row in table.splitlines()[2:]]
    for layers, places in rows:
        names = re.findall(r"`(\w+)`", layers)
        found = [name for name in names if hasattr(ed.layers, name)]
        parts = [name for name in names if name not in found]
        public = ed.layers.__all__
        assert all(any(part in name for name in public) for part in parts), parts
        for place in re.findall(r"`([^`]+)`", places):
            assert (ROOT / "bayes_rl" / "layers" / place).exists(), place
