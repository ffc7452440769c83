"""Does a test fail where the code is wrong? Run python -m tests.mutations [PATH].

`mutations.yaml` lists wrong versions of single lines, each with the tests that stand
nearest. Each is put into a copy of the packages, in which those tests have to fail. Prints
a line for each, and ends with 1 where one lived.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import yaml

ROOT = pathlib.Path(__file__).parents[1]
_PACKAGES = ("agents", "bayes_rl", "configs", "envs", "tests")
_FILES = ("conftest.py", "pyproject.toml")


def mutations(words=""):
    """Dicts of `file`, `was`, `is` and `tests`, of the files whose path has these words."""
    listed = yaml.safe_load((ROOT / "tests" / "mutations.yaml").read_text())
    return [each for each in listed if words in each["file"]]


def mutated(text, mutation):
    """The text of a file with the mutation.

    Raises:
        ValueError: what it replaces is not there exactly once.
    """
    count = text.count(mutation["was"])
    if count != 1:
        raise ValueError(f"{mutation['file']}: {mutation['was']!r} is there {count} times")
    return text.replace(mutation["was"], mutation["is"])


def lives(mutation, copy):
    """Whether its tests pass in a copy of the repository."""
    file = copy / mutation["file"]
    text = file.read_text()
    file.write_text(mutated(text, mutation))
    command = [sys.executable, "-m", "pytest", "-x", "-q", "--timeout=120"]
    try:
        done = subprocess.run(
            [
                *command,
                "-p",
                "no:cacheprovider",
                "-m",
                "not slow and not long",
                *mutation["tests"],
            ],
            cwd=copy,
            env=os.environ | {"PYTHONPATH": str(copy)},
            capture_output=True,
            text=True,
        )
    finally:
        file.write_text(text)
    if done.returncode not in (0, 1):
        raise RuntimeError(f"{mutation['file']}: no tests were run\n{done.stdout[-2000:]}")
    return done.returncode == 0


def main(words=""):
    alive = 0
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder)
        for name in _PACKAGES:
            shutil.copytree(
                ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__")
            )
        for name in _FILES:
            shutil.copy(ROOT / name, copy / name)
        chosen = mutations(words)
        for each in chosen:
            survived = lives(each, copy)
            alive += survived
            told = "LIVES " if survived else "killed"
            print(told, each["file"], each["is"].strip().partition("\n")[0], flush=True)
    print(f"{len(chosen) - alive} of {len(chosen)} killed")
    return 1 if alive else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
