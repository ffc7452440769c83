"""Tests of examples.cox_process."""

import json

import numpy as np
import pytest
from scipy import integrate

from examples import cox_process
from examples.cox_process import SMALL, Sizes


def test_cells_cover_the_line():
    places, width = cox_process.make_cells(100)
    assert width * len(places) == cox_process.END
    assert places[0] == width / 2
    expected, _ = integrate.quad(cox_process.truth, 0, cox_process.END)
    assert width * cox_process.truth(places).sum() == pytest.approx(expected, rel=1e-3)


def test_counts_are_those_of_the_rate():
    counts = cox_process.make_counts(Sizes(patterns=2000), 0)
    places, width = cox_process.make_cells(100)
    expected = width * cox_process.truth(places)
    error = np.abs(counts.mean(axis=0) - expected) / np.sqrt(expected / 2001)
    assert error.max() < 4.5


def test_the_log_probability_is_that_of_a_mixture():
    rates = np.array([[1.0], [3.0]])
    found = cox_process.log_probability(rates, 0.5, np.array([[0]]))
    assert found == pytest.approx(np.log((np.exp(-0.5) + np.exp(-1.5)) / 2))


@pytest.mark.slow
@pytest.mark.usefixtures("in_eager_mode")
def test_small_runs_and_leaves_its_results(tmp_path, capsys):
    out = tmp_path / "new" / "cox.json"
    cox_process.main(["--small", "--seed", "5", "6", "--out", str(out)])
    results = json.loads(out.read_text())["results"]
    names = ["gaussian_process", "constant", "truth"]
    expected = [(seed, name) for seed in (5, 6) for name in names]
    assert [(found["seed"], found["method"]) for found in results] == expected
    assert 0 <= results[0]["test"]["coverage"] <= 1
    assert results[2]["test"]["error"] == 0
    assert out.with_suffix(".png").stat().st_size > 1000
    assert capsys.readouterr().out.startswith("seed 5, gaussian_process: error ")
    (again, *_), _ = cox_process.run(6, SMALL)
    assert results[3]["test"] == again["test"], "a seed gave other scores"


@pytest.mark.slow
def test_training_finds_more_than_a_constant():
    sizes = Sizes(cells=50, inducing=12, steps=300, draws=50)
    results, rates = cox_process.run(1, sizes)
    assert rates.shape == (50, 50)
    learned, constant, true = (found["test"]["log_probability"] for found in results)
    assert constant < learned < true
