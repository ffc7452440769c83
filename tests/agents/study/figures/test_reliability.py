"""Tests of agents.study.figures.reliability."""

import numpy as np
import pytest
from PIL import Image

from agents.study.figures.reliability import save_worth
from agents.study.insight.spread_worth import VISITS


def rows(spreads, scale=1.0):
    """A row for each class of visits, and one of each other measure."""
    names = ["rank_correlation", "auroc", *(f"spread_{least}" for least in VISITS)]
    values = [0.5, 0.7, *(scale * spread for spread in spreads)]
    return [
        ("run", {"spread": "epistemic", "measure": name, "value": value})
        for name, value in zip(names, values, strict=True)
    ]


def drawn(file, worth):
    for _, row in worth:
        row |= {"low": row["value"], "high": row["value"], "steps": 10}
    save_worth(file, worth, "title")
    return np.asarray(Image.open(file).convert("L"))


@pytest.mark.slow
@pytest.mark.parametrize("first", [1.0, np.nan])
def test_spreads_are_drawn_over_the_largest_that_is_known(tmp_path, first):
    spreads = [first, 0.5, 0.25, 0.125, 0.0625]
    one = drawn(tmp_path / "one.png", rows(spreads))
    ten = drawn(tmp_path / "ten.png", rows(spreads, scale=10.0))
    none = drawn(tmp_path / "none.png", rows([np.nan] * 5))
    np.testing.assert_array_equal(one, ten)
    assert (one != none).any()
