"""Tests of benchmarks.learning.answers."""

import pathlib
import re

import pytest
import yaml

from benchmarks.learning.answers import answer, findings, noted, table

ROOT = pathlib.Path(__file__).parents[3] / "results"
STUDIES = yaml.safe_load((ROOT / "experiments.yaml").read_text())
MEASURED = [name for name in STUDIES if (ROOT / name).is_dir()]
_OF_NUMBERS = re.compile(r" [\[(][\d.]+(?:,| to) [\w.]+[\])]")  # intervals and extremes
STUDY = {"question": "Is it?", "answer": "Yes: {scores.iqm: task=a; n=2}."}


def table_in(folder):
    (folder / "tables").mkdir()
    return folder / "tables" / "t.csv"


def test_an_answer_has_its_numbers_from_the_tables_of_its_study(measured):
    assert answer(measured / "one", STUDY) == "Yes: 700 [650.4, never]."
    extremes = {"answer": "{scores.r: n=2}, {scores.iqm: n=3}"}
    assert answer(measured / "one", extremes) == "0.5 (0.25 to 0.75), 1"


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
    table_in(tmp_path).write_text(f"{columns},v,v_low,v_high\n{counts},5,4,6\n")
    first = f"{columns.split(',')[0]}={counts.split(',')[0]}"
    assert answer(tmp_path, {"answer": f"{{t.v: {first}}}"}) == f"5 [4, 6]{mark}"


def test_a_score_of_one_seed_is_marked_in_an_answer(tmp_path):
    table_in(tmp_path).write_text("seeds,v,v_low,v_high,w\n1,5,,,3\n")
    study = {"answer": "{t.v: seeds=1} after {t.w: seeds=1}"}
    assert answer(tmp_path, study) == "5‡ after 3"


def test_a_table_of_another_program_stands_beside_those_of_the_runs(tmp_path):
    table_in(tmp_path)
    (tmp_path / "other.csv").write_text("seed,v\nall,7\n")
    study = {"answer": "{other.v: seed=all}, {t.v: seed=all}"}
    assert answer(tmp_path, study) == "not measured yet"
    (tmp_path / "tables" / "t.csv").write_text("seed,v\nall,8\n")
    assert answer(tmp_path, study) == "7, 8"


def test_an_answer_that_nothing_was_measured_for_says_so(tmp_path):
    assert answer(tmp_path, STUDY) == "not measured yet"
    assert answer(tmp_path / "none", {"answer": "By hand."}) == "not measured yet"


def test_a_row_that_is_not_there_was_not_measured_yet(measured):
    study = {"answer": "{scores.iqm: task=b} and {scores.r: n=2}"}
    assert answer(measured / "one", study) == "(not measured yet) and 0.5 (0.25 to 0.75)"


def test_an_answer_of_several_rows_is_an_error(measured):
    with pytest.raises(SystemExit, match="scores.csv has 2 rows with task=a; not one"):
        answer(measured / "one", {"answer": "{scores.iqm: task=a}"})


def test_a_table_has_a_row_of_cells_for_each_name(measured):
    columns = {"score": "{scores.iqm: task=a; $row}", "R": "{scores.r: $row}"}
    words = {"caption": "Of {scores.n: n=2} seeds.", "first": "seeds", "columns": columns}
    study = {"table": words | {"rows": {"two": "n=2", "four": {"row": "n=4"}}}}
    assert table(measured / "one", study) == (
        "Of 2 seeds.\n\n| seeds | score | R |\n| --- | --- | --- |\n"
        "| two | 700 [650.4, never] | 0.5 (0.25 to 0.75) |\n| four |  |  |"
    )
    assert table(measured / "one", {}) == ""


def test_findings_are_folded_lines_with_their_numbers(measured):
    study = {"findings": ["First.", "At {scores.r: n=2}."]}
    found = findings(measured / "one", study)
    assert "More findings</summary>\n\n- First.\n- At 0.5 (0.25 to 0.75).\n\n" in found
    assert findings(measured / "one", {}) == ""


def test_marks_are_explained_where_they_are_used():
    assert noted("5 [4, 6]") == "5 [4, 6]"
    assert noted("5‡") == "5‡\n\n‡ One seed."
    assert "\n\n† Fewer than 5 seeds: " in noted("5 [4, 6]†")


@pytest.mark.parametrize("name", MEASURED)
def test_studies_of_this_repository_find_their_numbers(name):
    folder, study = ROOT / name, STUDIES[name]
    parts = [answer(folder, each) for each in (study, *study.get("also", ()))]
    found = "\n".join([*parts, findings(folder, study), table(folder, study)])
    assert "{" not in found
    assert "not measured" not in found
    assert "$" not in found


@pytest.mark.parametrize("name", [name for name in MEASURED if "table" in STUDIES[name]])
def test_no_row_or_column_of_a_first_table_is_empty(name):
    _, lines = table(ROOT / name, STUDIES[name]).split("\n\n")
    rows = [line.strip("|").split("|")[1:] for line in lines.splitlines()[2:]]
    assert all("".join(row).strip() for row in rows)
    assert all("".join(column).strip() for column in zip(*rows, strict=True))


@pytest.mark.parametrize("name", MEASURED)
def test_answers_of_this_repository_are_one_short_sentence_and_a_caveat(name):
    for each in (STUDIES[name], *STUDIES[name].get("also", ())):
        words = _OF_NUMBERS.sub("", answer(ROOT / name, each))
        first, *others = re.split(r"(?<=[.?]) (?=[A-Z])", words)
        assert len(first.split()) <= 30
        assert len(others) <= 1
        assert len(words.split()) <= 45
