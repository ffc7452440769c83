"""Tests of examples.methods.tabular_methods."""

import numpy as np
import pytest

from examples import tabular
from examples.methods.tabular_methods import METHODS, SETTINGS, SMALL, choose

_ONE = "deterministic", "sngp", "dense"  # normal distribution, not a mixture


@pytest.mark.slow
@pytest.mark.usefixtures("in_eager_mode")
@pytest.mark.parametrize("method", METHODS)
def test_methods_predict_a_mixture(method):
    data = tabular.make_data("friedman2", SMALL, 0)
    predict = METHODS[method](*data["train"], SMALL, 0)
    means, stddevs = map(np.asarray, predict(data["test"][0][:7]))
    assert means.shape == stddevs.shape
    assert means.shape[1] == 7
    assert np.all(stddevs > 0)
    assert (means.shape[0] == 1) == (method in _ONE)
    assert (means.std(axis=0).max() > 0) == (method not in _ONE)


def test_all_methods_try_as_many_settings():
    assert METHODS.keys() - SETTINGS.keys() == {"dense", "dense_flipout"}
    assert {len(tried) for tried in SETTINGS.values()} == {4}


def test_a_setting_is_chosen_by_rows_that_were_not_learned(monkeypatch):
    seen = []

    def method(inputs, targets, sizes, seed):
        seen.append(len(inputs))
        if sizes.decay == 0.3:
            raise ValueError("the loss became nan")
        stddev = np.float32(sizes.decay)
        return lambda x: (np.zeros([1, len(x)], np.float32), np.full([1, len(x)], stddev))

    monkeypatch.setitem(METHODS, "deterministic", method)
    # the smallest stddev fits a held-out target of 0 best
    targets = np.concatenate([np.zeros(10), np.ones(40)]).astype(np.float32)
    inputs = np.zeros([50, 2], np.float32)
    assert choose("deep_ensemble", inputs, targets, SMALL, 0).decay == 0.01
    assert seen == [40] * 4
    targets[:10] = 0.1
    assert choose("deterministic", inputs, targets, SMALL, 0).decay == 0.1
