"""Tests of benchmarks.learning.pages."""

import json
import pathlib
import re

import pytest
import yaml

from benchmarks.learning.pages import page, readme, sources
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
STUDIES = yaml.safe_load((ROOT / "experiments.yaml").read_text())
MEASURED = [name for name in STUDIES if (ROOT / name).is_dir() and name != "suite"]
ASKED = {"title": "One", "question": "Is it?", "answer": "Yes: {scores.iqm: task=a; n=2}."}


@pytest.fixture
def folder(make_run, tmp_path):
    runs = [make_run(tmp_path / str(s), s, [[100.0 * s], [1.0]]) for s in range(3)]
    folder = tmp_path / "results" / "one"
    tables = folder / "tables"
    tables.mkdir(parents=True)
    (tables / "scores.csv").write_text("task,n\nfake,3\n")
    (folder / "scores.png").touch()
    (folder / "training.png").touch()
    summary = {"commands": ["bayes-rl train"], "runs": {"finished": 3, "of": 5}}
    summary |= summarize(runs)
    summary["comparison"] = ["Scores: returns", "", "| the tables |", "", "- few seeds"]
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


def test_page_of_a_comparison_without_notes_has_its_tables_alone(folder):
    file = folder / "tables" / "summary.json"
    summary = json.loads(file.read_text())
    summary["comparison"] = ["Scores: returns", "", "| the tables |"]
    file.write_text(json.dumps(summary))
    parts = _folded(page(folder, STUDY))
    assert parts["Scores"] == "Scores: returns\n\n| the tables |"
    assert "Notes on these tables" not in parts


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


def test_readme_is_a_table_of_questions_with_links(measured):
    for name in ("one/README.md", "two/runs.csv"):  # of two nothing is finished
        (measured / name).parent.mkdir(exist_ok=True)
        (measured / name).touch()
    (measured / "layers.md").write_text("# Layers\n\nHow fast?\n\nFast.\n\n| 1 |\n")
    more = {"question": "How?", "answer": "By {scores.r: n=2}."}
    studies = {
        "one": ASKED | {"also": [more]},
        "two": ASKED | {"agent": "raw observations"},
    }
    text = readme(measured, studies)
    assert "| How? | By 0.5 (0.25 to 0.75). | [One](one/README.md) |" in text
    assert "| Is it? | Yes: 700 [650.4, never]. | [One](one/README.md) |" in text
    assert "| Is it? | not measured yet | One (an earlier agent) |" in text
    assert "| How fast? | Fast. | [Layers](layers.md) |" in text


@pytest.mark.parametrize("name", MEASURED)
def test_pages_of_this_repository_stand_as_they_are_made(name):
    assert page(ROOT / name, STUDIES[name]) == (ROOT / name / "README.md").read_text()


def test_the_front_page_of_this_repository_stands_as_it_is_made():
    assert readme(ROOT, STUDIES) == (ROOT / "README.md").read_text()
    assert STUDIES["suite"]["about"] in (ROOT / "suite" / "README.md").read_text()


def test_the_folder_stays_small_and_holds_results_alone():
    files = [path for path in ROOT.rglob("*") if path.is_file()]
    assert len(files) <= 300
    assert sum(file.stat().st_size for file in files) <= 9e6
    assert [file for file in files if file.suffix == ".py"] == []


def test_pages_show_every_picture_and_film():
    shown = set()
    for file in ROOT.rglob("*.md"):
        links = re.findall(r"\]\(([^)]+)\)", file.read_text())
        shown |= {(file.parent / link).resolve() for link in links}
    kept = {path.resolve() for kind in ("png", "mp4") for path in ROOT.rglob(f"*.{kind}")}
    assert kept - shown == set()
