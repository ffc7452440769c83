"""Pages with code are found, and all pages are in the list of the start page."""

import re
import types

import pytest

from docs import running

DOCS = running.ROOT / "docs"


def test_pages_with_code_are_found():
    names = {page.relative_to(DOCS).as_posix() for page in running.with_code()}
    assert {"tutorials/swap_a_layer.md", "concepts/latent_model.md"} <= names
    assert "concepts/glossary.md" not in names


def test_outputs_are_kept_apart_for_other_files_that_pages_use(tmp_path, monkeypatch):
    for name in ("docs/figures.yaml", "examples/a.py", "results/a.md", "results/a.gz"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("1")
    (tmp_path / "docs/page.md").write_text("1")
    (tmp_path / "requirements.txt").write_text("1")
    monkeypatch.setattr(running, "ROOT", tmp_path)

    def folder():
        running.cache_folder.cache_clear()
        return running.cache_folder()

    folders = [folder()]
    for file in sorted(tmp_path.rglob("*.*")):
        file.write_text("2")
        folders.append(folder())
    (tmp_path / "examples/a.py").rename(tmp_path / "examples/b.py")
    folders.append(folder())
    assert len(set(folders)) == len(folders) - 1  # the page itself is none of them
    running.cache_folder.cache_clear()


def test_a_command_that_fails_stops_a_page():
    shell = types.SimpleNamespace(user_ns={})
    shell.system = lambda command: shell.user_ns.update(_exit_code=len(command))
    running.stop_at_failures(shell)
    shell.system("")
    with pytest.raises(ChildProcessError, match="ls ended with exit status 2"):
        shell.system("ls")


def test_every_page_is_in_the_list_of_the_start_page():
    listed = set(re.findall(r"^[\w/]+$", (DOCS / "index.md").read_text(), re.MULTILINE))
    for folder in ("guide", "tutorials", "concepts", "reference", "project"):
        for page in (DOCS / folder).glob("*.md"):
            assert f"{folder}/{page.stem}" in listed


def test_no_page_names_a_place_outside_of_the_repository():
    for page in (*DOCS.glob("*.md"), *DOCS.glob("[!m_]*/*.md")):
        assert not re.search(r"(?<![\w.])/(work|tmp|root|home)\b", page.read_text())
