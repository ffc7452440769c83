"""Tests of agents.runs.records."""

import subprocess

import pytest

from agents.runs import records as module
from agents.runs.records import note_session, provenance


def test_code_machine_and_libraries_are_told():
    found = provenance()
    assert found["python"].startswith("3.")
    assert found["cores"] >= 1
    assert found["memory_gib"] >= 1
    assert found["processor"]
    assert found["libraries"]["tf-agents"] == "0.19.0"
    assert all(found["libraries"].values())


@pytest.fixture
def git(monkeypatch):
    """Sets what git answers: one text for each of its commands."""

    def answer(**answers):
        def run(command, **_):
            text = answers.get(command[3].replace("-", "_"))
            return subprocess.CompletedProcess(command, text is None, f"{text or ''}\n", "")

        monkeypatch.setattr(module.subprocess, "run", run)

    return answer


def test_commit_is_that_of_the_code(git):
    git(ls_files="records.py", rev_parse="0123abc", status="")
    assert provenance()["commit"] == "0123abc"


def test_changed_code_is_told(git):
    git(ls_files="records.py", rev_parse="0123abc", status=" M agents/train.py")
    assert provenance()["commit"] == "0123abc+changes"


def test_code_outside_of_git_has_no_commit(git):
    git()
    assert provenance()["commit"] is None


def test_a_repository_around_the_place_of_installation_is_not_that_of_the_code(
    tmp_path, monkeypatch
):
    installed = tmp_path / "venv" / "records.py"
    installed.parent.mkdir()
    installed.touch()
    monkeypatch.setattr(module, "__file__", str(installed))

    def git(*words):
        named = ["-c", "user.name=x", "-c", "user.email=x@y"]
        subprocess.run(["git", *named, *words], cwd=tmp_path, check=True)

    git("init", "--quiet")
    git("commit", "--quiet", "--allow-empty", "--message", "of another project")
    assert provenance()["commit"] is None
    git("add", "venv/records.py")
    git("commit", "--quiet", "--message", "now of this one")
    assert len(provenance()["commit"]) == 12


def test_every_session_is_a_line(tmp_path):
    for episodes in (0, 7):
        note_session(tmp_path, {"episodes": episodes, "environment_steps": 0})
    first, second = module.read_sessions(tmp_path)
    assert (first["episodes"], second["episodes"]) == (0, 7)
    assert first["started"].endswith("+00:00")


def test_a_torn_session_takes_no_other_with_it(tmp_path, caplog):
    counts = {"episodes": 0, "environment_steps": 0}
    note_session(tmp_path, counts)
    file = tmp_path / "sessions.jsonl"
    file.write_bytes(file.read_bytes()[:-20])  # the disk was full
    note_session(tmp_path, counts | {"episodes": 7})
    assert [row["episodes"] for row in module.read_sessions(tmp_path)] == [7]
    assert f"{file}: line 1 is incomplete or damaged" in caplog.text
