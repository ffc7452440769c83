"""Tests of results.examples_page."""

import json

import pytest
from PIL import Image

from results.examples_page import __main__ as examples_page
from results.examples_page.programs import PROGRAMS

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
    assert "- calibration error: " not in page
    assert "calibration error: no difference shown: deep ensemble" in page
    assert "| 2.000 [2.000, 2.000] |" in page
    assert "- commit: " in page
    for name in ("digits", "images"):
        assert f"](examples_{name}.png)" in page
        assert (folder / f"examples_{name}.png").exists()
    # two methods, tests, scores and seeds of digits; two seeds of an image model
    assert len((folder / "examples.csv").read_text().splitlines()) == 1 + 16 + 4


def test_programs_claim_what_they_test():
    for program in PROGRAMS.values():
        assert {test for test, _ in program.claims} <= program.tests.keys()


def test_no_files_are_told_in_one_line(tmp_path, capsys):
    with pytest.raises(SystemExit):
        examples_page.main(["--logdir", str(tmp_path)])
    assert "run python -m examples.digits METHOD" in capsys.readouterr().err
