"""Tests of examples.regression."""

import json

import numpy as np
import pytest

from examples import regression
from examples.methods.regression_methods import METHODS, SMALL, Sizes


def test_no_training_lies_in_the_gap():
    data = regression.make_curve(Sizes(), 0)
    assert abs(data["train"][0]).min() >= regression.GAP
    assert abs(data["beside"][0]).min() >= regression.GAP
    assert abs(data["gap"][0]).max() <= regression.GAP
    residual = data["gap"][1] - regression.curve(data["gap"][0])
    assert 0.05 < residual.std() < 0.2


def test_patients_are_standardized_by_those_of_training():
    data = regression.make_diabetes(Sizes(), 0)
    assert [len(x) for x, _ in data.values()] == [342, 100]
    inputs, targets = data["train"]
    np.testing.assert_allclose(inputs.std(axis=0), 1, rtol=1e-4)
    np.testing.assert_allclose(targets.mean(), 0, atol=1e-5)
    assert abs(data["test"][0].mean(axis=0)).max() > 1e-3


def test_scores_are_those_of_a_hand_computed_mixture():
    targets = np.zeros(400, np.float32)
    means = np.stack([np.full(400, -1.0), np.full(400, 1.0)]).astype(np.float32)
    found = regression.score((means, np.ones_like(means)), targets, 0)
    assert found["error"] == 0
    density = np.exp(-0.5) / np.sqrt(2 * np.pi)
    assert found["negative_log_likelihood"] == pytest.approx(-np.log(density), rel=1e-5)
    assert found["coverage"] == 1.0


def test_calibrated_predictions_cover_as_much_as_they_say():
    targets = np.random.default_rng(1).standard_normal(4000).astype(np.float32)
    prediction = np.zeros([1, 4000], np.float32), np.ones([1, 4000], np.float32)
    found = regression.score(prediction, targets, 0)
    assert found["coverage"] == pytest.approx(0.9, abs=0.02)
    # Gneiting and Raftery, 2007: of a standard normal, 1 / sqrt(pi) in expectation
    assert found["crps"] == pytest.approx(1 / np.sqrt(np.pi), abs=0.03)


# The others are tried on a curve in methods/.
@pytest.mark.slow
@pytest.mark.usefixtures("in_eager_mode")
@pytest.mark.parametrize(
    ("words", "methods"),
    [
        (["--method", "flipout"], ["flipout"]),
        ([], list(METHODS)),
    ],
    ids=["flipout", "all"],
)
def test_small_runs_and_leaves_its_results(tmp_path, capsys, words, methods):
    out = tmp_path / "new" / "regression.json"
    regression.main(["--small", *words, "--seed", "5", "--out", str(out)])
    results = json.loads(out.read_text())["results"]
    assert [found["method"] for found in results] == methods * 2
    for found in results:
        for name in ("test",) if found["data"] == "diabetes" else ("beside", "gap"):
            assert 0 <= found[name]["coverage"] <= 1
    assert out.with_suffix(".png").stat().st_size > 1000
    assert "seed 5, flipout, curve, gap: " in capsys.readouterr().out
    again, _ = regression.run("flipout", "curve", 5, SMALL)
    first = results[len(methods) + methods.index("flipout")]
    assert first["gap"] == again["gap"], "a seed gave other scores"
