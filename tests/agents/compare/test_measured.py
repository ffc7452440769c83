"""Tests of agents.compare.measured: files of probes and calibrations, over seeds."""

import csv

import pytest

from agents.compare import compare
from agents.tables import write_csv


@pytest.fixture
def folder(make_run, tmp_path):
    """Three runs that were probed and calibrated, and one that was not."""
    for seed in range(4):
        run = make_run(tmp_path / "runs" / str(seed), seed, [[1.0]])
        if seed < 3:
            about = {"environment_steps": 1000, "episodes": 4, "actions": "random"}
            about |= {"target": "velocity 0", "probe": "mlp", "low": 0.0, "high": 1.0}
            shares = {"latent": 0.5 + seed / 10, "embedding": -0.1}
            rows = [about | {"input": name, "r_squared": x} for name, x in shares.items()]
            write_csv(run / "probe.csv", rows)
            _write_calibration(run, inside=0.1 * (seed + 1))
    return tmp_path / "runs"


def _write_calibration(run, inside):
    rows = []
    for step in (1, 2, 50):
        row = {"actions": "policy", "forecast": "5 draws", "episodes": 4, "step": step}
        row |= {f"coverage_{level}": inside * step / 50 for level in (50, 80, 95)}
        rows.append(row | {"negative_log_likelihood": 2.0})
    write_csv(run / "calibration.csv", rows)


def read(file):
    with open(file, newline="") as handle:
        return list(csv.DictReader(handle))


def test_probes_are_medians_over_the_seeds_that_have_them(folder, tmp_path):
    compare([folder], tmp_path / "out")
    latent, embedding = read(tmp_path / "out" / "probes.csv")
    assert (latent["seeds"], latent["input"], latent["target"]) == (
        "3",
        "latent",
        "velocity 0",
    )
    columns = ("r_squared", "r_squared_lowest", "r_squared_highest")
    assert [float(latent[column]) for column in columns] == pytest.approx([0.6, 0.5, 0.7])
    assert embedding["r_squared"] == "-0.1"
    text = (tmp_path / "out" / "comparison.md").read_text()
    assert "| target | latent mlp | embedding mlp |" in text
    assert "| velocity 0 | 0.60 (0.50 to 0.70) | -0.10 (-0.10 to -0.10) |" in text


def test_calibration_has_a_row_for_every_step_and_shows_three(folder, tmp_path):
    compare([folder], tmp_path / "out")
    rows = read(tmp_path / "out" / "calibration.csv")
    assert [row["step"] for row in rows] == ["1", "2", "50"]
    assert float(rows[2]["coverage_80"]) == pytest.approx(0.2)
    text = (tmp_path / "out" / "comparison.md").read_text()
    assert "| policy | 5 draws | 50 | 0.20 (0.10 to 0.30) |" in text


def test_runs_without_such_files_have_no_such_tables(make_run, tmp_path):
    make_run(tmp_path / "runs", 0, [[1.0]])
    compare([tmp_path / "runs"], tmp_path / "out")
    names = {file.stem for file in (tmp_path / "out").glob("*.csv")}
    assert not names & {"probes", "calibration"}
