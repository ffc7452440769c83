import numpy as np
import pytest

from bayes_rl import initializers


@pytest.mark.parametrize("probs", [0.0, 0.3, 1.0])
def test_share_of_ones(probs):
    signs = initializers.RandomSign(probs, seed=1)([100, 100]).numpy()
    assert set(np.unique(signs)) <= {-1.0, 1.0}
    tolerance = 5 * np.sqrt(probs * (1 - probs) / 10_000)
    assert abs(np.mean(signs == 1.0) - probs) <= tolerance


def test_seed_and_type():
    first, second = (initializers.RandomSign(0.5, seed=1)([50]) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    assert np.any(first != initializers.RandomSign(0.5, seed=2)([50]))
    unseeded = initializers.RandomSign(0.5)
    assert np.any(unseeded([50]) != unseeded([50]))
    assert initializers.RandomSign(dtype="float64")([2]).dtype == "float64"
    assert initializers.RandomSign()([2], dtype="float16").dtype == "float16"


def test_no_probability_is_an_error():
    with pytest.raises(ValueError, match="probs must be between 0 and 1, got 2"):
        initializers.RandomSign(2)
