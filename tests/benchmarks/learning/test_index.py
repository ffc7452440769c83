"""Tests of benchmarks.learning.index."""

import pathlib
import re

import pytest
import yaml

from benchmarks.learning.index import readme
from benchmarks.learning.pages import page

ROOT = pathlib.Path(__file__).parents[3] / "results"
STUDIES = yaml.safe_load((ROOT / "experiments.yaml").read_text())
MEASURED = [name for name in STUDIES if (ROOT / name).is_dir() and name != "suite"]
STUDY = {"title": "One", "question": "Is it?", "answer": "Yes: {scores.iqm: task=a; n=2}."}


def test_readme_is_a_table_of_questions_with_links(measured):
    for name in ("one/README.md", "two/runs.csv"):  # of two nothing is finished
        (measured / name).parent.mkdir(exist_ok=True)
        (measured / name).touch()
    (measured / "layers.md").write_text("# Layers\n\nHow fast?\n\nFast.\n\n| 1 |\n")
    more = {"question": "How?", "answer": "By {scores.r: n=2}."}
    studies = {
        "one": STUDY | {"also": [more]},
        "two": STUDY | {"agent": "raw observations"},
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
