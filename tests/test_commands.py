"""Every `bayes-rl train` that a page or the README shows is understood."""

import functools
import pathlib
import re
import shlex
import subprocess

import pytest
import yaml

from agents.runs.config import overrides

ROOT = pathlib.Path(__file__).parents[1]
DOCS = ROOT / "docs"
TEXTS = {
    str(page.relative_to(ROOT)): page.read_text()
    for page in (ROOT / "README.md", DOCS / "index.md", *DOCS.glob("[!m_]*/*.md"))
}
EXPERIMENTS = yaml.safe_load((ROOT / "results" / "experiments.yaml").read_text())
RESULTS = [command for each in EXPERIMENTS.values() for command in each["commands"]]


def in_words(text):
    """Commands in the middle of a sentence or a cell."""
    return re.findall(r"`(bayes-rl train [^`]*)`", text)


def in_blocks(text):
    """Commands on lines of their own, without what a shell does with their output."""
    lines = re.sub(r"\\\n\s*", "", text).splitlines()
    found = [line[line.startswith("!") :] for line in lines]
    found = [line for line in found if line.startswith("bayes-rl train ")]
    return [re.split(r" +(?:[>|#]|2>)", line)[0] for line in found]


COMMANDS = list(dict.fromkeys(c for text in TEXTS.values() for c in in_words(text)))
BLOCKS = list(dict.fromkeys(c for text in TEXTS.values() for c in in_blocks(text)))
TRAINED = [command for command in RESULTS if command.startswith("bayes-rl train")]


def is_whole(command):
    return not any(word in command for word in ("...", "--help", "hover:", "eye:"))


WHOLE = [c for c in dict.fromkeys([*COMMANDS, *BLOCKS, *TRAINED]) if is_whole(c)]


def test_commands_of_all_kinds_of_pages_are_found():
    assert "bayes-rl train task=walker_walk seed=1" in COMMANDS
    assert any("task=python:hover:Hover " in command for command in BLOCKS)
    assert len(COMMANDS) > 30


@functools.cache
def load(*words):
    return overrides.load(list(words))


@pytest.mark.parametrize("command", WHOLE)
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
    for command in filter(is_whole, COMMANDS):
        words = shlex.split(command)[2:]
        if "-m" not in words and "--print-config" not in words:
            config = load(*words)
            assert runs.setdefault(config.logdir, config) == config, command


def test_commands_are_some_to_a_shell():
    for command in dict.fromkeys([*COMMANDS, *BLOCKS, *RESULTS]):
        subprocess.run(["bash", "-n", "-c", command], check=True)
