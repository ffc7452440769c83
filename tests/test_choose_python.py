"""`make` takes the fastest Python that is there, or has uv bring one."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

SCRIPT = pathlib.Path(__file__).parents[1] / "requirements" / "choose-python"
MAC = "#!/bin/sh\necho Darwin"
# A Python of some version: says it where it is asked, and what it is to make.
PYTHON = """#!/bin/sh
case "$1" in
  -c) {answer} ;;
  *) echo "$0 $*" >>"$LOG"; mkdir -p "$4/bin"; ln -sf "$0" "$4/bin/python" ;;
esac
"""
UV = '#!/bin/sh\necho "uv $*" >>"$LOG"\n'


@pytest.fixture
def choose(tmp_path):
    """Runs the script among commands that are given as text; returns rc, log, stderr."""
    (tmp_path / "bin").mkdir()
    for name in ("mkdir", "ln", "sh", "sed", "chmod"):
        (tmp_path / "bin" / name).symlink_to(shutil.which(name))

    def run(commands, *words, **more):
        for name, text in {"uname": "#!/bin/sh\necho Linux", **commands}.items():
            file = tmp_path / "bin" / name
            file.write_text(text)
            file.chmod(0o755)
        log = tmp_path / "log"
        environment = {
            "PATH": f"{tmp_path / 'bin'}",
            "LOG": str(log),
            "HOME": str(tmp_path),
        }
        environment |= more
        result = subprocess.run(
            ["sh", SCRIPT, "venv", *words],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
        )
        done = log.read_text().replace(f"{tmp_path}/bin/", "") if log.exists() else ""
        return result.returncode, done.splitlines(), result.stderr

    return run


def python(version):
    answer = f"echo {version}" if version else "exit 1"
    return PYTHON.format(answer=answer)


@pytest.mark.parametrize(
    ("commands", "chosen"),
    [
        ({"python3.13": "3.13", "python3.12": "3.12", "python3.11": "3.11"}, "python3.11"),
        ({"python3.13": "3.13", "python3.12": "3.12"}, "python3.12"),
        ({"python3": "3.13"}, "python3"),
        ({"python3.11": None, "python3": "3.12"}, "python3"),
        ({"python3": "3.10", "python3.13": "3.13"}, "python3.13"),
    ],
    ids=["all", "no 3.11", "system's", "3.11 without ensurepip", "old system"],
)
def test_the_fastest_that_is_there_is_taken(choose, commands, chosen):
    status, done, _ = choose({name: python(found) for name, found in commands.items()})
    assert (status, done) == (0, [f"{chosen} -m venv --clear venv"])


def test_one_can_be_left_out(choose):
    found = {"python3.11": python("3.11"), "python3.12": python("3.12")}
    assert choose(found, NOT="3.11")[1] == ["python3.12 -m venv --clear venv"]


def test_macos_has_no_python_311(choose):
    found = {"python3.11": python("3.11"), "python3.13": python("3.13"), "uname": MAC}
    assert choose(found)[1] == ["python3.13 -m venv --clear venv"]


def test_those_of_pyenv_are_found(choose, tmp_path):
    file = tmp_path / ".pyenv/versions/3.12.1/bin/python3"
    file.parent.mkdir(parents=True)
    file.write_text(python("3.12"))
    file.chmod(0o755)
    status, done, _ = choose({"python3": python("3.10")})
    assert (status, done) == (0, [f"{file} -m venv --clear venv"])


def test_uv_brings_one_where_there_is_none(choose):
    status, done, _ = choose({"python3": python("3.14"), "uv": UV})
    assert (status, done) == (0, ["uv venv --quiet --clear --seed --python 3.11 venv"])


def test_uv_comes_into_an_environment_of_its_own(choose):
    brings = """#!/bin/sh
case "$1 $2" in
  "-c "*) echo 3.14 ;;
  "-m venv") echo "$*" >>"$LOG"; mkdir -p "$4/bin"; ln -sf "$0" "$4/bin/python" ;;
  "-m pip") echo "pip $*" >>"$LOG"
    printf '#!/bin/sh\\necho "own uv $*" >>"$LOG"\\n' >venv-uv/bin/uv
    chmod +x venv-uv/bin/uv ;;
esac
"""
    status, done, said = choose({"python3": brings})
    assert status == 0, said
    assert done == [
        "-m venv --clear venv-uv",
        "pip -m pip --disable-pip-version-check --quiet install uv",
        "own uv venv --quiet --clear --seed --python 3.11 venv",
    ]


@pytest.mark.parametrize("commands", [{}, {"python3": None}], ids=["none", "no ensurepip"])
def test_what_to_install_is_said_where_nothing_can_be_done(choose, commands):
    status, done, said = choose({name: python(found) for name, found in commands.items()})
    assert (status, done) == (1, [])
    assert said.startswith("Python 3.11 to 3.13 with venv is needed, and none is here.")
    assert "apt install python3-venv" in said


@pytest.mark.parametrize(
    ("version", "line"),
    [
        ("3.10", "PYTHON=mine is Python 3.10; one of these is needed: 3.11 3.12 3.13"),
        (None, "PYTHON=mine does not start, or lacks venv or ensurepip"),
    ],
)
def test_a_python_that_was_named_is_taken_or_refused(choose, version, line):
    commands = {"mine": python(version), "python3.11": python("3.11")}
    assert choose(commands, "mine") == (1, [], f"{line}\n")
    assert choose({"mine": python("3.13")}, "mine")[1] == ["mine -m venv --clear venv"]


@pytest.mark.slow
def test_a_true_environment_is_made(tmp_path):
    words = ["sh", SCRIPT, tmp_path / "venv", sys.executable]
    subprocess.run(words, check=True, env=dict(os.environ))
    assert (tmp_path / "venv/bin/python").exists()
