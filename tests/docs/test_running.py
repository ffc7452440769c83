"""Commands that fail stop a page, and all pages are in the list of the start page."""

import re
import types

import pytest

from docs import keeping, running

DOCS = keeping.ROOT / "docs"


def test_a_command_that_fails_stops_a_page():
    shell = types.SimpleNamespace(user_ns={})
    shell.system = lambda command: shell.user_ns.update(_exit_code=len(command))
    running.stop_at_failures(shell)
    shell.system("")
    with pytest.raises(ChildProcessError, match="ls ended with exit status 2"):
        shell.system("ls")


def test_a_page_works_with_a_copy_of_a_trained_run(tmp_path, monkeypatch):
    monkeypatch.setattr(keeping, "ROOT", tmp_path)
    made = []
    monkeypatch.setattr(running.subprocess, "run", lambda words, **_: made.append(words))
    for name in ("pole", "other"):
        (tmp_path / "logdir/start" / name).mkdir(parents=True)
    page, folder = tmp_path / "page.md", tmp_path / "folder"
    page.write_text("---\nuses: [docs]\n---\n")
    running.make_runs([page])
    running.copy_runs(page, folder)
    assert not made
    assert not folder.exists()
    page.write_text("---\nuses: [docs]\nruns: [pole]\n---\n")
    running.make_runs([page])
    running.copy_runs(page, folder)
    assert made == [["make", "runs"]]
    assert [file.name for file in (folder / "logdir/start").iterdir()] == ["pole"]


def test_every_trained_run_of_a_page_is_one_that_is_made():
    made = (keeping.ROOT / "Makefile").read_text()
    made = made[made.index("\nruns:") : made.index("\ntest:")]
    for page in keeping.with_code():
        for name in keeping.runs(page):
            assert re.search(rf"\b{name}\b", made), page


def test_every_page_is_in_the_list_of_the_start_page():
    listed = set(re.findall(r"^[\w/]+$", (DOCS / "index.md").read_text(), re.MULTILINE))
    for folder in ("guide", "tutorials", "concepts", "reference", "project"):
        for page in (DOCS / folder).glob("*.md"):
            assert f"{folder}/{page.stem}" in listed


def test_no_page_names_a_place_outside_of_the_repository():
    for page in (*DOCS.glob("*.md"), *DOCS.glob("[!m_]*/*.md")):
        assert not re.search(r"(?<![\w.])/(work|tmp|root|home)\b", page.read_text())
