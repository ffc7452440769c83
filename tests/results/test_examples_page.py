"""Tests of results.examples_page."""

import json

import numpy as np
import pytest

from results import examples_page


def _write(folder, method, accuracies, letters=0.9):
    scores = {"negative_log_likelihood": 0.5, "calibration_error": 0.1, "brier": 0.2}
    results = []
    for seed, accuracy in enumerate(accuracies):
        bins = [[0, 0, 0.0]] * 9 + [[20, 19, 19.4]]
        test = scores | {"accuracy": accuracy, "reliability": bins}
        found = {"method": method, "seed": seed, "seconds": 7.0 + seed}
        results.append(
            found | {"test": test, "rotated": test, "letters": {"auroc": letters}}
        )
    (folder / f"{method}.json").write_text(json.dumps({"results": results}))


def _verdict(folder, accuracies):
    _write(folder, "deterministic", [0.90, 0.92, 0.94])
    _write(folder, "flipout", accuracies)
    summary = examples_page.summarize(examples_page.read(sorted(folder.glob("*.json"))))
    (row,) = (
        row
        for row in summary
        if (row["method"], row["test"], row["score"]) == ("flipout", "rotated", "accuracy")
    )
    return row


def test_an_interval_is_that_of_student():
    # t of 4 degrees of freedom, 97.5 %: 2.776
    mean, low, high = examples_page.interval([1.0, 2.0, 3.0, 4.0, 5.0])
    half = 2.776445 * np.sqrt(2.5 / 5)
    np.testing.assert_allclose([mean, low, high], [3, 3 - half, 3 + half], rtol=1e-6)
    assert np.isnan(examples_page.interval([1.0])[1])


@pytest.mark.parametrize(
    ("accuracies", "verdict"),
    [
        ([0.91, 0.93, 0.951], 1),  # better seed by seed, though intervals overlap
        ([0.89, 0.91, 0.929], -1),
        ([0.95, 0.90, 0.92], 0),
    ],
)
def test_seeds_are_compared_one_by_one(accuracies, verdict, tmp_path):
    row = _verdict(tmp_path, accuracies)
    assert row["verdict"] == verdict
    expected = np.mean(accuracies) - 0.92
    assert row["less_plain"] == pytest.approx(expected)


def test_one_seed_says_nothing(tmp_path):
    assert _verdict(tmp_path, [1.0])["verdict"] == 0


def test_the_page_has_tables_pictures_and_where_they_come_from(tmp_path):
    _write(tmp_path, "deterministic", [0.90, 0.92, 0.94])
    _write(tmp_path, "deep_ensemble", [0.91, 0.93, 0.951], letters=0.5)
    folder = tmp_path / "results"
    files = [str(path) for path in tmp_path.glob("*.json")]
    examples_page.main([*files, "--folder", str(folder)])
    page = (folder / "examples.md").read_text()
    assert "| deterministic | 0.920 [0.870, 0.970] |" in page
    assert "| deep ensemble | **0.930** [0.879, 0.981] |" in page
    assert "~~0.500~~" in page
    assert "- calibration error: no difference shown: deep ensemble" in page
    assert "| deep ensemble | 3 | 8 |" in page
    assert "- commit: " in page
    assert (folder / "examples_reliability.png").stat().st_size > 1000
    assert len((folder / "examples.csv").read_text().splitlines()) == 1 + 2 * 3 * 9


def test_no_files_are_told_in_one_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit):
        examples_page.main([])
    assert "run python -m examples.digits METHOD" in capsys.readouterr().err
