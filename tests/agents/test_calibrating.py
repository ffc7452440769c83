"""Tests of agents.calibrating."""

import csv

import pytest
from PIL import Image

from agents.calibrating import calibrate
from agents.validation import UserError


@pytest.fixture(scope="module")
def rows(whole_run):
    calibrate(whole_run, None, 2)
    with open(whole_run / "calibration.csv") as file:
        return list(csv.DictReader(file))


def test_file_has_each_forecast_at_each_step_on_both_kinds_of_episodes(rows):
    steps = {int(row["step"]) for row in rows}
    assert steps == set(range(1, max(steps) + 1))
    assert len(rows) == 2 * 4 * len(steps)
    assert {row["actions"] for row in rows} == {"policy", "random"}
    labels = {row["forecast"] for row in rows}
    assert labels == {"mean weights", "1 draw", "5 draws", "20 draws"}


def test_intervals_hold_the_shares_and_wider_ones_hold_more(rows):
    for row in rows:
        shares = [float(row[f"coverage_{level}"]) for level in (50, 80, 95)]
        assert 0 <= shares[0] <= shares[1] <= shares[2] <= 1
        low, high = (float(row[f"coverage_80_{end}"]) for end in ("low", "high"))
        assert low <= shares[1] <= high


def test_two_runs_are_judged_on_the_same_episodes(whole_run, capsys):
    calibrate(whole_run, whole_run, 2)
    said = capsys.readouterr().out
    assert "actions: other policy" in said
    lines = [line for line in said.splitlines() if "20 draws" in line]
    assert len(lines) == 6
    for one, other in zip(lines[::2], lines[1::2], strict=True):
        assert other.split() == ["other", *one.split()]
    assert Image.open(whole_run / "figures" / "calibration.png").width > 300


def test_runs_of_other_observations_are_refused(whole_run, pixel_run):
    with pytest.raises(UserError) as error:
        calibrate(whole_run, pixel_run, 2)
    assert str(error.value) == (
        f"{pixel_run} does not predict the observations of {whole_run}: "
        "observation is pixels instead of state"
    )


def test_pictures_are_forecast(pixel_run):
    calibrate(pixel_run, None, 1)
    with open(pixel_run / "calibration.csv") as file:
        assert {int(row["step"]) for row in csv.DictReader(file)} == {1, 2, 5}
