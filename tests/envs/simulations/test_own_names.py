"""Tests of tasks named python:package.module:function: what is found, and what is not."""

import multiprocessing
import sys

import pytest

import envs
from envs.simulations import own


@pytest.fixture
def project(tmp_path, monkeypatch):
    """Makes the current folder one with a module `project.counter` of a given text."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path])

    def write(text):
        (tmp_path / "project").mkdir()
        (tmp_path / "project" / "counter.py").write_text(text)
        return "python:project.counter:make"

    yield write
    for name in ("project", "project.counter"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize(
    ("task", "message"),
    [
        ("python:own_module", "must be python:package.module:function"),
        ("python:own_module:make-it", "must be python:package.module:function"),
        ("python::make", "must be python:package.module:function"),
        (
            "python:nowhere.counter:make",
            r"\(ModuleNotFoundError: No module named 'nowhere'\)",
        ),
        ("python:nowhere.counter:make", "looked for in .* and in what is installed"),
        ("python:envs.counter:make", "the name envs is taken by this program"),
        ("python:project.counter:mak", r"\(.*project/counter.py\) has no function 'mak'"),
        ("python:project.counter:CONSTANT", "has no function 'CONSTANT'"),
    ],
)
def test_wrong_name_is_told_in_one_line(project, task, message):
    project("CONSTANT = 3\ndef make():\n    pass")
    with pytest.raises(ValueError, match=message) as caught:
        envs.check_task(task)
    assert "\n" not in str(caught.value)


def test_error_in_the_module_is_told_with_its_place(project):
    task = project("import math\nmath.sqrt(-1)")
    with pytest.raises(ValueError, match=r"\(ValueError: math .* at .*counter.py:2\)$"):
        envs.check_task(task)


def test_missing_import_of_the_module_is_not_taken_for_the_module(project):
    task = project("import not_there_at_all")
    with pytest.raises(ValueError, match=r"'not_there_at_all' at .*counter.py:1\)$"):
        envs.check_task(task)


def test_velocities_are_not_known(project):
    task = project("def make():\n    pass")
    assert envs.check_task(task, "position").names == ("position",)  # an entry of its own
    assert envs.wrapping_angles(task) == ()


def test_current_folder_comes_last(project, tmp_path, monkeypatch):
    (tmp_path / "yaml.py").write_text("raise RuntimeError('taken for the library')")
    own.find("yaml", "safe_load")  # the installed one
    assert sys.path[-1] == str(tmp_path)
    project("def make():\n    pass")
    own.find("project.counter", "make")
    assert sys.path.count(str(tmp_path)) == 1


@pytest.mark.slow
def test_processes_of_environments_find_it_too(project):
    task = project("def make():\n    pass")
    with multiprocessing.get_context("spawn").Pool(1) as processes:
        found = processes.apply(envs.check_task, [task])
    assert found == envs.check_task(task)
    assert (found.domain, found.variant) == ("project.counter", "make")
