"""Tests of results.index."""

import pathlib

import pytest
import yaml

from results.index import answer, readme
from results.pages import page

ROOT = pathlib.Path(__file__).parents[2] / "results"
STUDIES = yaml.safe_load((ROOT / "experiments.yaml").read_text())
MEASURED = [name for name in STUDIES if (ROOT / name).is_dir() and name != "suite"]
STUDY = {"title": "One", "question": "Is it?", "answer": "Yes: {scores.iqm: task=a; n=2}."}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "one").mkdir()
    head = "task,n,iqm,iqm_low,iqm_high,r,r_lowest,r_highest\n"
    rows = "a,2,700,650.44,inf,0.5,0.25,0.75\na,3,1,,,,,\n"
    (tmp_path / "one" / "scores.csv").write_text(head + rows)
    return tmp_path


def test_an_answer_has_its_numbers_from_the_tables_of_its_study(folder):
    assert answer(folder / "one", STUDY) == "Yes: 700 [650.4, never]."
    extremes = {"answer": "{scores.r: n=2}, {scores.iqm: n=3}"}
    assert answer(folder / "one", extremes) == "0.5 (0.25 to 0.75), 1"


@pytest.mark.parametrize(
    ("columns", "counts", "mark"),
    [
        ("seeds", "5", ""),
        ("seeds", "4", "†"),
        ("seeds,than_seeds", "5,3", "†"),
        ("n", "2", ""),
    ],
)
def test_an_interval_of_few_seeds_is_marked_in_an_answer(tmp_path, columns, counts, mark):
    (tmp_path / "t.csv").write_text(f"{columns},v,v_low,v_high\n{counts},5,4,6\n")
    first = f"{columns.split(',')[0]}={counts.split(',')[0]}"
    assert answer(tmp_path, {"answer": f"{{t.v: {first}}}"}) == f"5 [4, 6]{mark}"


def test_a_score_of_one_seed_is_marked_in_an_answer(tmp_path):
    (tmp_path / "t.csv").write_text("seeds,v,v_low,v_high,w\n1,5,,,3\n")
    study = {"answer": "{t.v: seeds=1} after {t.w: seeds=1}"}
    assert answer(tmp_path, study) == "5‡ after 3"


def test_an_answer_that_nothing_was_measured_for_says_so(tmp_path):
    assert answer(tmp_path, STUDY) == "not measured yet"
    assert answer(tmp_path / "none", {"answer": "By hand."}) == "not measured yet"


def test_a_row_that_is_not_there_was_not_measured_yet(folder):
    study = {"answer": "{scores.iqm: task=b} and {scores.r: n=2}"}
    assert answer(folder / "one", study) == "(not measured yet) and 0.5 (0.25 to 0.75)"


def test_an_answer_of_several_rows_is_an_error(folder):
    with pytest.raises(SystemExit, match="scores.csv has 2 rows with task=a; not one"):
        answer(folder / "one", {"answer": "{scores.iqm: task=a}"})


def test_readme_is_a_table_of_questions_with_links(folder):
    for name in ("layers.md", "one/README.md", "two/runs"):  # of two nothing is finished
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).touch()
    more = {"question": "How?", "answer": "By {scores.r: n=2}."}
    studies = {
        "one": STUDY | {"also": [more]},
        "two": STUDY | {"agent": "raw observations"},
    }
    text = readme(folder, studies)
    assert "| How? | By 0.5 (0.25 to 0.75). | [One](one/README.md) |" in text
    assert "| Is it? | Yes: 700 [650.4, never]. | [One](one/README.md) |" in text
    assert "| Is it? | not measured yet | One (an earlier agent) |" in text
    assert "[layers.md](layers.md): `python -m benchmarks.layers --folder results`" in text


@pytest.mark.parametrize("name", MEASURED)
def test_answers_of_this_repository_find_their_numbers(name):
    found = answer(ROOT / name, STUDIES[name])
    assert "{" not in found
    assert "not measured" not in found


@pytest.mark.parametrize("name", MEASURED)
def test_pages_of_this_repository_stand_as_they_are_made(name):
    assert page(ROOT / name, STUDIES[name]) == (ROOT / name / "README.md").read_text()


def test_the_front_page_of_this_repository_stands_as_it_is_made():
    assert readme(ROOT, STUDIES) == (ROOT / "README.md").read_text()
    assert STUDIES["suite"]["about"] in (ROOT / "suite" / "README.md").read_text()


def test_the_folder_stays_small():
    size = sum(path.stat().st_size for path in ROOT.rglob("*") if path.is_file())
    assert size < 12e6
