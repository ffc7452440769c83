"""Tests of benchmarks.learning.examples."""

import json
import pathlib
import shutil

import pytest
from PIL import Image

from benchmarks.learning.examples import __main__ as examples_page
from benchmarks.learning.examples.programs import PROGRAMS

_BINS = [[0, 0, 0.0]] * 9 + [[20, 19, 19.4]]


def _write(file, method, tests, **scores):
    test = {"accuracy": 0.5, "reliability": _BINS} | scores
    results = [
        {"method": method, "seed": seed, "seconds": 7.0} | dict.fromkeys(tests, test)
        for seed in range(2)
    ]
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps({"commit": "abc", "results": results}))


def test_the_page_has_tables_pictures_and_where_they_come_from(tmp_path):
    logdir, folder = tmp_path / "logdir", tmp_path / "results"
    logdir.mkdir()
    for method in ("deep_ensemble", "deterministic"):
        file = logdir / "digits" / f"{method}.json"
        _write(file, method, ["test", "rotated"], calibration_error=0.1)
    _write(logdir / "images.json", "vae", ["test"], bits_per_dimension=2.0)
    Image.new("RGB", (8, 8)).save(logdir / "images.png")
    examples_page.main(["--logdir", str(logdir), "--folder", str(folder)])
    page = (folder / "examples.md").read_text()
    assert page.index("| deterministic | 0.500") < page.index("| deep ensemble | 0.500")
    assert "Commit of the runs: abc; seeds 0, 1." in page
    digits = "| digits | Digits rotated by 15 to 45 degrees, the shift | calibration error"
    assert f"{digits} | deterministic |  | deep ensemble |  |" in page
    answer = "They do in 0 of 1 comparisons where the data shift, and in 0 of 1 elsewhere."
    assert page.split("\n\n")[2] == answer
    assert "| 2.000 [2.000, 2.000] |" in page
    assert "- commit: " in page
    for name in ("digits", "images"):
        assert f"](examples_{name}.png)" in page
        assert (folder / f"examples_{name}.png").exists()
    # two methods, tests, scores and seeds of digits; two seeds of an image model
    assert len((folder / "examples.csv").read_text().splitlines()) == 1 + 16 + 4


def test_programs_without_new_files_stay_on_the_page(tmp_path):
    logdir, folder = tmp_path / "logdir", tmp_path / "results"
    logdir.mkdir()
    arguments = ["--logdir", str(logdir), "--folder", str(folder)]
    _write(logdir / "images.json", "vae", ["test"], bits_per_dimension=2.0)
    _write(logdir / "sequence.json", "deterministic", ["test", "long"])
    examples_page.main(arguments)
    before = (folder / "examples.md").read_text(), (folder / "examples.csv").read_text()
    (logdir / "images.json").unlink()
    _write(logdir / "sequence.json", "deterministic", ["test", "long"], accuracy=0.75)
    examples_page.main(arguments)
    page, rows = (folder / "examples.md").read_text(), (folder / "examples.csv").read_text()
    start = "## `examples/images.py`"
    assert page[page.index(start) :] == before[0][before[0].index(start) :]
    assert "| deterministic | 0.750" in page
    assert rows == before[1].replace("accuracy,0.5", "accuracy,0.75").replace(
        "images,vae,0,,7.0,abc,test,accuracy,0.75",
        "images,vae,0,,7.0,abc,test,accuracy,0.5",
    ).replace(
        "images,vae,1,,7.0,abc,test,accuracy,0.75",
        "images,vae,1,,7.0,abc,test,accuracy,0.5",
    )


def test_methods_without_new_files_stay_on_the_page(tmp_path):
    logdir, folder = tmp_path / "logdir", tmp_path / "results"
    logdir.mkdir()
    arguments = ["--logdir", str(logdir), "--folder", str(folder)]
    tests = ["test", "rotated"]
    for method in ("deterministic", "dropout"):
        _write(logdir / "digits" / f"{method}.json", method, tests, brier=0.25)
    examples_page.main(arguments)
    (logdir / "digits" / "dropout.json").unlink()
    for method in ("deterministic", "swag"):
        _write(logdir / "digits" / f"{method}.json", method, tests, brier=0.125)
    examples_page.main(arguments)
    page = (folder / "examples.md").read_text()
    rows = [x.split(" [")[0] for x in page.splitlines() if "0.500, 0.500" in x]
    names = ["| deterministic | 0.500", "| dropout | 0.500", "| swag | 0.500"]
    assert rows == 2 * names
    assert "~~0.250~~" in page


@pytest.mark.parametrize("word", ["--small", "--validate", "--steps=3"])
def test_a_run_that_the_page_does_not_tell_of_is_refused(tmp_path, word):
    file = tmp_path / "sequence.json"
    _write(file, "deterministic", ["test", "long"])
    facts = json.loads(file.read_text()) | {"arguments": [word, "--seed", "1"]}
    file.write_text(json.dumps(facts))
    with pytest.raises(SystemExit, match=f"sequence.json is of a run with {word}, which"):
        examples_page.main(["--logdir", str(tmp_path), "--folder", str(tmp_path / "out")])
    assert not (tmp_path / "out").exists()


def test_programs_claim_what_they_test():
    for program in PROGRAMS.values():
        assert {test for test, _ in program.claims} <= program.tests.keys()


def test_the_page_of_this_repository_is_made_of_its_table(tmp_path):
    kept = pathlib.Path(examples_page.__file__).parents[3] / "results"
    for name in ("examples.md", "examples.csv"):
        shutil.copy(kept / name, tmp_path)
    examples_page.main(["--logdir", str(tmp_path), "--folder", str(tmp_path)])
    for name in ("examples.md", "examples.csv"):
        assert (tmp_path / name).read_text() == (kept / name).read_text()


def test_no_files_are_told_in_one_line(tmp_path, capsys):
    with pytest.raises(SystemExit):
        examples_page.main(["--logdir", str(tmp_path), "--folder", str(tmp_path)])
    assert "run python -m examples.digits METHOD" in capsys.readouterr().err
