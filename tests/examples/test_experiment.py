"""Tests of examples.experiment."""

import dataclasses
import json
import pathlib
import re

import numpy as np
import pytest

from examples import experiment


@dataclasses.dataclass
class _Sizes:
    draws: int = 3


def test_scores_are_those_of_a_hand_computed_prediction():
    found = experiment.classification_scores([0, 1], [[0.9, 0.1], [0.75, 0.25]])
    assert found["accuracy"] == 0.5
    assert found["negative_log_likelihood"] == pytest.approx(-np.log([0.9, 0.25]).mean())
    assert found["brier"] == pytest.approx((2 * 0.1**2 + 2 * 0.75**2) / 2)
    assert found["calibration_error"] == pytest.approx((0.1 + 0.75) / 2)
    counts = [number for number, _, _ in found["reliability"]]
    assert counts == [0] * 7 + [1, 1, 0]


def test_a_certain_mistake_costs_a_finite_number_of_nats():
    found = experiment.classification_scores([0], [[0.0, 1.0]])
    assert 20 < found["negative_log_likelihood"] < 21
    assert found["reliability"][-1] == [1, 0, 1.0]


def test_entropy_is_that_of_a_coin():
    found = experiment.entropy(np.array([[0.5, 0.5], [1.0, 0.0]]))
    np.testing.assert_allclose(found, [np.log(2), 0], atol=1e-8)


def test_alarms_that_tell_nothing_have_half_the_area():
    assert experiment.auroc([1.0, 1.0], [1.0]) == 0.5
    assert experiment.auroc([0.0, 0.1], [0.2]) == 1.0


def test_the_file_says_how_it_was_made(tmp_path):
    file = tmp_path / "new" / "found.json"
    experiment.save(file, _Sizes(), [{"seed": 1}], ["--small"])
    found = json.loads(file.read_text())
    assert re.fullmatch(r"unknown|.*[0-9a-f]{7,}(\+changes)?", found.pop("commit"))
    expected = {"arguments": ["--small"], "sizes": {"draws": 3}, "results": [{"seed": 1}]}
    assert found == expected


def test_code_without_git_has_no_commit(tmp_path, monkeypatch):
    monkeypatch.setattr(experiment, "_FOLDER", tmp_path)
    assert experiment.commit() == "unknown"


def test_programs_share_their_options(capsys):
    parser = experiment.make_parser("name", "What it is.\n\nMore.")
    options = parser.parse_args(["--seed", "1", "2", "--out", "a"])
    assert (options.seed, options.small, options.out) == ([1, 2], False, pathlib.Path("a"))
    with pytest.raises(SystemExit):
        parser.parse_args(["--help"])
    printed = capsys.readouterr().out
    assert printed.startswith("usage: name.py")
    assert "More." not in printed


def test_rotation_moves_ink_about_the_middle():
    image = np.zeros([1, 8, 8, 1], np.float32)
    image[0, 3:5, :, 0] = 1.0
    (turned,) = experiment.rotated(image, np.random.default_rng(0))
    assert turned[3:5, 3:5].min() > 0.75
    assert turned[3:5].sum() < 14  # of 16
    np.testing.assert_allclose(turned, turned[::-1, ::-1], atol=1e-5)
