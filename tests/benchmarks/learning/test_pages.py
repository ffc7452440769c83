"""Tests of benchmarks.learning.pages."""

import json
import pathlib
import re

import pytest

from benchmarks.learning.pages import page, sources
from benchmarks.learning.summary import summarize

STUDY = {
    "title": "One",
    "question": "Is it?",
    "answer": "Yes.",
    "findings": ["Twice."],
    "about": "About.",
    "pictures": ["scores.png", "*.png"],
    "table": {
        "caption": "All.",
        "first": "group",
        "rows": {"first": "task=fake"},
        "columns": {"n": "{scores.n: $row}"},
    },
}
ROOT = pathlib.Path(__file__).parents[3] / "results"


@pytest.fixture
def folder(make_run, tmp_path):
    runs = [make_run(tmp_path / str(s), s, [[100.0 * s], [1.0]]) for s in range(3)]
    folder = tmp_path / "results" / "one"
    tables = folder / "tables"
    tables.mkdir(parents=True)
    (tables / "comparison.md").write_text(
        "Scores: returns\n\n| the tables |\n\n- few seeds\n"
    )
    (tables / "scores.csv").write_text("task,n\nfake,3\n")
    (folder / "scores.png").touch()
    (folder / "training.png").touch()
    summary = {"commands": ["bayes-rl train"], "runs": {"finished": 3, "of": 5}}
    summary |= summarize(runs)
    (tables / "summary.json").write_text(json.dumps(summary))
    return folder


def test_page_begins_with_question_answer_picture_and_table(folder):
    text = page(folder, STUDY)
    start = "# One\n\nIs it?\n\nYes.\n\n![scores](scores.png)\n\nAll.\n\n| group | n |\n"
    assert text.startswith(start)
    assert "\n| first | 3 |\n\n<details><summary>More findings</summary>" in text


def test_page_folds_how_it_was_measured_and_all_tables(folder):
    parts = _folded(page(folder, STUDY))
    how = parts["How it was measured"]
    assert how.startswith("About.")
    assert "bayes-rl train\npython -m benchmarks.learning --pack one" in how
    assert "Commit abc; Test 1, 2 cores, 8 GiB." in how
    assert "So far 3 of these 5 runs are finished." in how
    assert parts["Scores"] == "Scores: returns\n\n| the tables |"
    assert parts["Notes on these tables"] == "- few seeds"
    assert "| fake |  | 10 to 5 |" in parts["Posterior over the weights"]
    assert parts["More pictures"] == "![training](training.png)"


def test_commits_of_a_machine_stand_in_one_line():
    machine = {"processor": "Test 1", "cores": 1, "memory_gib": 8}
    found = [machine | {"commit": commit} for commit in ("a", "b")]
    assert sources(found) == "Commits a, b; Test 1, 1 core, 8 GiB."
    other = sources([*found, machine | {"commit": "c", "cores": 2}])
    assert other.endswith("8 GiB.\n\nCommit c; Test 1, 2 cores, 8 GiB.")


def test_page_says_of_which_agent_it_is(folder):
    study = STUDY | {"agent": "raw observations"}
    assert "with an earlier version of the agent: raw observations." in page(folder, study)


PAGES = {path.relative_to(ROOT).as_posix(): path.read_text() for path in ROOT.rglob("*.md")}
PAGES = {name: text for name, text in PAGES.items() if text.startswith("# ")}
OTHERS = [name for name in PAGES if name != "README.md"]


@pytest.mark.parametrize("name", OTHERS)
def test_pages_of_this_repository_begin_with_a_question_and_its_answer(name):
    title, question, answer, *_ = PAGES[name].split("\n\n")
    assert title.startswith("# ")
    assert question.endswith("?")
    assert answer.endswith((".", ")"))
    assert "\n" not in answer


@pytest.mark.parametrize("name", OTHERS)
def test_first_tables_of_this_repository_have_at_most_eight_columns(name):
    seen = PAGES[name].partition("<details>")[0]
    (rule,) = (line for line in seen.splitlines() if line.startswith("| --- |"))
    assert rule.count("---") <= 8


@pytest.mark.parametrize("name", OTHERS)
def test_pages_of_this_repository_fold_how_they_were_measured(name):
    assert "<details><summary>How it was measured</summary>\n\n" in PAGES[name]
    seen = re.sub(r"<details>.*?</details>", "", PAGES[name], flags=re.DOTALL)
    assert "```" not in seen
    assert not re.search(r"\b(bayes-rl train|Commits? [0-9a-f]{7})", seen)


@pytest.mark.parametrize("name", OTHERS)
def test_folded_parts_of_this_repository_have_no_heading(name):
    """The site would close them there."""
    for part in _folded(PAGES[name]).values():
        assert not re.search(r"^#+ ", part, re.MULTILINE)


def _folded(text):
    found = re.findall(
        r"^<details><summary>([^\n]*)</summary>\n\n(.*?)\n\n</details>$",
        text,
        re.DOTALL | re.MULTILINE,
    )
    assert len(found) == text.count("<details>") == text.count("</details>")
    return dict(found)
