"""Tests of results.answers."""

import pathlib

import pytest
import yaml

from results.answers import answer, outcome

ROOT = pathlib.Path(__file__).parents[2] / "results"
STUDIES = yaml.safe_load((ROOT / "experiments.yaml").read_text())
MEASURED = [name for name in STUDIES if (ROOT / name).is_dir()]
STUDY = {"question": "Is it?", "answer": "Yes: {scores.iqm: task=a; n=2}."}


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


def test_a_row_that_is_not_there_was_not_measured_yet(measured):
    study = {"answer": "{scores.iqm: task=b} and {scores.r: n=2}"}
    assert answer(measured / "one", study) == "(not measured yet) and 0.5 (0.25 to 0.75)"


def test_an_answer_of_several_rows_is_an_error(measured):
    with pytest.raises(SystemExit, match="scores.csv has 2 rows with task=a; not one"):
        answer(measured / "one", {"answer": "{scores.iqm: task=a}"})


def test_an_outcome_has_all_answers_and_findings_with_their_numbers(measured):
    more = {"question": "How?", "answer": "By {scores.iqm: task=a; n=3}."}
    study = STUDY | {"also": [more], "findings": ["First.", "At {scores.r: n=2}."]}
    paragraphs = ["Is it?", "Yes: 700 [650.4, never].", "First.", "At 0.5 (0.25 to 0.75)."]
    paragraphs += ["How?", "By 1."]
    assert outcome(measured / "one", study) == "\n\n".join(paragraphs)


def test_an_outcome_explains_the_mark_of_one_seed(tmp_path):
    (tmp_path / "t.csv").write_text("seeds,v,v_low,v_high\n1,5,,\n")
    study = {"question": "Is it?", "answer": "{t.v: seeds=1}"}
    assert outcome(tmp_path, study).endswith("\n\n5‡\n\n‡ One seed.")


@pytest.mark.parametrize("name", MEASURED)
def test_outcomes_of_this_repository_find_their_numbers(name):
    found = outcome(ROOT / name, STUDIES[name])
    assert "{" not in found
    assert "not measured" not in found


@pytest.mark.parametrize("name", MEASURED)
def test_answers_of_this_repository_are_short(name):
    each = [STUDIES[name], *STUDIES[name].get("also", ())]
    lengths = [len(answer(ROOT / name, one).split()) for one in each]
    assert max(lengths) <= 90
