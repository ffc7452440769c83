"""Tests of results.pages."""

import json

import pytest

from results.pages import page
from results.summary import summarize

STUDY = {
    "title": "One",
    "question": "Is it?",
    "answer": "Yes.",
    "findings": ["Twice."],
    "about": "About.",
    "pictures": ["*.png"],
}


@pytest.fixture
def folder(make_run, tmp_path):
    runs = [make_run(tmp_path / str(s), s, [[100.0 * s], [1.0]]) for s in range(3)]
    folder = tmp_path / "results" / "one"
    folder.mkdir(parents=True)
    (folder / "comparison.md").write_text("| the tables |\n")
    (folder / "scores.png").touch()
    summary = {"commands": ["bayes-rl train"], "runs": {"finished": 3, "of": 5}}
    summary |= summarize(runs, folder)
    (folder / "summary.json").write_text(json.dumps(summary))
    return folder


def test_page_shows_tables_weights_commands_pictures_and_sources(folder):
    text = page(folder, STUDY)
    assert text.startswith(
        "# One\n\nIs it?\n\nYes.\n\nTwice.\n\nAbout.\n\nCommit abc, Test 1, 2 cores, 8 GiB."
    )
    assert "\n\n| the tables |\n\n" in text
    assert "| fake |  | 10 to 5 |" in text
    assert "So far 3 of these 5 runs are finished." in text
    assert "bayes-rl train\npython -m results one" in text
    assert "![scores.png](scores.png)" in text


def test_page_says_of_which_agent_it_is(folder):
    study = STUDY | {"agent": "raw observations"}
    assert "with an earlier version of the agent: raw observations." in page(folder, study)
