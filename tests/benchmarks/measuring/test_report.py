"""Pages of benchmarks are made of the files beside them."""

import pathlib
import shutil

import pytest

from benchmarks.measuring.report import as_lines, facts_on
from benchmarks.scale.mesh import __main__ as mesh
from benchmarks.speed import __main__ as benchmarks
from benchmarks.speed import layers

EDGES = ("low", "high")
RESULTS = pathlib.Path(benchmarks.__file__).parents[2] / "results"


@pytest.mark.parametrize(
    ("main", "name"),
    [(benchmarks.main, "benchmarks"), (layers.main, "layers"), (mesh.main, "mesh")],
)
def test_pages_of_this_repository_stand_as_they_are_made(main, name, tmp_path):
    for file in (*RESULTS.glob("*.csv"), RESULTS / f"{name}.md"):
        shutil.copy(file, tmp_path)
    main(["--page", "--folder", str(tmp_path)])
    page = (tmp_path / f"{name}.md").read_text()
    assert page == (RESULTS / f"{name}.md").read_text()


def test_facts_are_read_back_from_a_page_and_notes_are_not():
    facts = {"date": "2026-11-25 16:19 UTC", "tf-agents": "0.19.0", "memory_gib": "24"}
    assert facts_on(f"- Load: a note.\n\n{as_lines(facts)}\n") == facts


def test_a_page_that_was_measured_stands_as_it_is_made_anew(tmp_path):
    numbers = {"milliseconds": 2.55649999, "over_reference": 1.2205004}
    numbers |= {f"{name}_{end}": value for name, value in numbers.items() for end in EDGES}
    row = {"group": "dense", "case": "DenseFlipout", "at_most": "1 ms"} | numbers
    facts = dict.fromkeys(("date", "commit", "processor", "cores"), "1")
    layers.make_report().save(tmp_path, [row], facts)
    before = (tmp_path / "layers.md").read_text()
    layers.main(["--page", "--folder", str(tmp_path)])
    assert (tmp_path / "layers.md").read_text() == before


def test_rows_without_the_default_have_no_answer():
    assert benchmarks.answer([], {}) == layers.answer([], {}) == ""
