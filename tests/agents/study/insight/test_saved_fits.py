"""Tests of agents.study.insight.saved_fits."""

import dataclasses
import json

import numpy as np
import pytest

from agents.study.insight.saved_fits import FILE, load, newest, save
from agents.system.errors import UserError
from tests.agents.study.insight.test_recalibration import ONES, TRUE


def test_a_saved_fit_is_read_for_the_model_of_that_time_alone(tmp_path):
    save({"policy": TRUE}, tmp_path, steps=400)
    for name, value in vars(load(tmp_path, 400, "policy")).items():
        np.testing.assert_array_equal(value, getattr(TRUE, name))
    assert load(tmp_path, 500, "policy") is None
    assert load(tmp_path, 400, "random") is None
    assert load(tmp_path / "elsewhere", 400, "policy") is None


def test_the_first_folder_with_a_fit_of_that_time_counts(tmp_path):
    out, run = tmp_path / "out", tmp_path / "run"
    for folder, steps in ((out, 300), (run, 400)):
        folder.mkdir()
        save({"policy": TRUE}, folder, steps)
    assert newest((out, run), 400, "policy") is not None
    assert newest((out, run), 300, "policy") is not None
    assert newest((out, run), 500, "policy") is None


def test_a_fit_of_an_earlier_version_is_none(tmp_path):
    save({"policy": TRUE}, tmp_path, steps=400)
    written = json.loads((tmp_path / FILE).read_text())
    del written["policy"]["widening"]
    (tmp_path / FILE).write_text(json.dumps(written))
    assert load(tmp_path, 400, "policy") is None


def test_numbers_that_hardly_move_are_kept(tmp_path):
    """A number that is the same in all episodes has a spread near 0, and not 0."""
    small = dataclasses.replace(TRUE, stddev=1.234567e-9 * ONES)
    save({"policy": small}, tmp_path, steps=400)
    found = load(tmp_path, 400, "policy").stddev
    np.testing.assert_allclose(found, small.stddev, rtol=1e-5)


@pytest.mark.parametrize(
    "damage", ["nothing", "{}", '{"environment_steps": 400, "policy": 3}']
)
def test_a_damaged_file_is_told(tmp_path, damage):
    (tmp_path / FILE).write_text(damage)
    with pytest.raises(UserError) as error:
        load(tmp_path, 400, "policy")
    assert str(error.value) == (
        f"{tmp_path / FILE} is damaged; remove it, or write it again: "
        f"bayes-rl calibrate {tmp_path}"
    )
