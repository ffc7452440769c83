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


def test_every_page_is_in_the_list_of_the_start_page():
    listed = set(re.findall(r"^[\w/]+$", (DOCS / "index.md").read_text(), re.MULTILINE))
    for folder in ("guide", "tutorials", "concepts", "reference", "project"):
        for page in (DOCS / folder).glob("*.md"):
            assert f"{folder}/{page.stem}" in listed


def test_no_page_names_a_place_outside_of_the_repository():
    for page in (*DOCS.glob("*.md"), *DOCS.glob("[!m_]*/*.md")):
        assert not re.search(r"(?<![\w.])/(work|tmp|root|home)\b", page.read_text())
