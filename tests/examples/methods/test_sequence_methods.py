"""Tests of examples.methods.sequence_methods."""

import numpy as np
import pytest

from examples import sequence
from examples.methods.sequence_methods import METHODS, SMALL


@pytest.mark.slow
@pytest.mark.usefixtures("in_eager_mode")
@pytest.mark.parametrize("method", ["deep_ensemble", "dropout", "laplace", "swag", "ivon"])
def test_methods_predict_logits_under_draws(method):
    strings = sequence.make_data(SMALL, 0)["train"]
    train = sequence.encode(strings, SMALL.longest)
    logits = np.asarray(METHODS[method](train, SMALL, 0)(train[0][:3]))
    assert logits.shape == (2, 3, SMALL.longest - 1, len(sequence.SYMBOLS))
    assert logits.std(axis=0).max() > 0
    assert np.ptp(logits.std(axis=0)) > 0
