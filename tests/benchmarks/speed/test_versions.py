"""Differences of runs of one seed by two versions."""

import shutil

import pytest

from agents.runs import records
from benchmarks.speed import versions


@pytest.fixture
def runs(tmp_path):
    """Folder of one task, two versions and two seeds."""
    for version, factor in (("2.15", 1.0), ("2.19", 1.5)):
        for seed in "01":
            run = tmp_path / "runs" / "reacher_easy" / version / seed
            run.mkdir(parents=True)
            rows = [
                {},
                {"train_steps": 300, "train/loss": 2.0, "train/weight_kl": 5.0},
                {"train_steps": 600, "train/loss": 4.0 * factor, "train/weight_kl": 8.0},
            ]
            for number, row in enumerate(rows, 1):
                counted = {"episodes": number, "environment_steps": 10 * number}
                records.append_metrics(run, counted | row)
            lines = [",".join(records.SCORE_COLUMNS)]
            for steps, value in ((10, 0.0), (20, 100 * factor), (20, 300 * factor)):
                lines.append(f"{steps},1,0,0,{seed},{value}")
            (run / "scores.csv").write_text("\n".join([*lines, ""]))
    return tmp_path / "runs"


def test_differences_are_relative_to_the_first_version(runs):
    rows = versions.measure(runs)
    assert [row["seed"] for row in rows] == ["0", "1"]
    assert (rows[0]["loss_first"], rows[0]["loss_last"]) == (0, 0.5)
    assert (rows[0]["weight_kl_first"], rows[0]["weight_kl_last"]) == (0, 0)
    assert (rows[0]["score_of_first"], rows[0]["score_of_second"]) == (200, 300)
    assert (rows[0]["train_steps_first"], rows[0]["train_steps_last"]) == (300, 600)


def test_the_page_has_the_part_where_the_csv_is(runs, tmp_path):
    assert versions.section(tmp_path) == ""
    versions.main([str(runs), "--folder", str(tmp_path)])
    part = versions.section(tmp_path)
    assert "| reacher_easy | 0 | 0e+00 | 5e-01 | 0e+00 | 0e+00 | 200 | 300 |" in part
    assert "loss differs by, after 300 steps" in part


def test_what_is_not_paired_is_named(runs, capsys):
    (runs / "reacher_easy/2.19/1").rename(runs / "reacher_easy/2.19/2")
    with pytest.raises(SystemExit):
        versions.main([str(runs)])
    assert "reacher_easy: seeds ['1', '2'] lack a version" in capsys.readouterr().err
    shutil.rmtree(runs / "reacher_easy/2.19")
    with pytest.raises(ValueError, match="must hold two versions, got"):
        versions.measure(runs)


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ValueError, match="gone is no folder of runs$"):
        versions.measure(tmp_path / "gone")
