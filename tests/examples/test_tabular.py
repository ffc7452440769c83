"""Tests of examples.tabular."""

import json

import numpy as np
import pytest

from examples import tabular
from examples.methods.tabular_methods import METHODS, SMALL, Sizes


@pytest.mark.parametrize(
    ("kind", "counts"), [("diabetes", [317, 80, 45]), ("friedman2", [200, 1060, 140])]
)
def test_rows_are_trained_tested_or_outside(kind, counts):
    data = tabular.make_data(kind, Sizes(), 0)
    assert list(data) == ["train", "test", "outside"]
    assert [len(x) for x, _ in data.values()] == counts
    assert [x.shape for x, _ in data.values()] == [
        (count, data["train"][0].shape[1]) for count in counts
    ]


def test_outside_rows_have_the_highest_values_of_the_leading_input():
    data = tabular.make_data("friedman1", Sizes(), 0)
    inputs, targets = data["train"]
    leading = np.argmax([abs(np.corrcoef(x, targets)[0, 1]) for x in inputs.T])
    assert data["outside"][0][:, leading].min() > inputs[:, leading].max()
    assert data["outside"][0][:, leading].min() > data["test"][0][:, leading].max()


def test_rows_are_standardized_by_those_of_training():
    inputs, targets = tabular.make_data("friedman3", Sizes(), 0)["train"]
    np.testing.assert_allclose(inputs.mean(axis=0), 0, atol=1e-5)
    np.testing.assert_allclose(inputs.std(axis=0), 1, rtol=1e-4)
    np.testing.assert_allclose([targets.mean(), targets.std()], [0, 1], atol=1e-5)


@pytest.mark.slow
@pytest.mark.usefixtures("in_eager_mode")
@pytest.mark.parametrize(
    ("words", "methods"),
    [
        (["--method", "laplace", "--data", "friedman2"], ["laplace"]),
        (["--data", "diabetes"], list(METHODS)),
    ],
    ids=["laplace", "all"],
)
def test_small_runs_and_leaves_its_results(tmp_path, capsys, words, methods):
    out = tmp_path / "new" / "tabular.json"
    tabular.main(["--small", *words, "--seed", "5", "--out", str(out)])
    results = json.loads(out.read_text())["results"]
    assert [found["method"] for found in results] == methods
    kind = words[-1]
    for found in results:
        for name in (kind, f"{kind}_outside"):
            assert np.isfinite(found[name]["negative_log_likelihood"])
            assert 0 <= found[name]["coverage_80"] <= 1
    assert f"seed 5, {methods[0]}, {kind}, test: " in capsys.readouterr().out
    again = tabular.run(methods[0], kind, 5, SMALL)
    assert results[0][kind] == again[kind], "a seed gave other scores"
