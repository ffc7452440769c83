"""Tests of examples.digits."""

import json

import numpy as np
import pytest

from examples import digits
from examples.methods.digits_methods import SMALL, Sizes


def test_no_digit_is_trained_and_tested():
    data = digits.make_data(Sizes(), 0)
    parts = [{x.tobytes() for x in data[n][0]} for n in ("train", "validation", "test")]
    assert list(map(len, parts)) == [1000, 297, 500]
    assert len(set.union(*parts)) == 1797


def test_all_seeds_are_tested_alike_and_trained_on_others():
    one, two = (digits.make_data(SMALL, seed) for seed in (0, 1))
    for name in ("test", "rotated", "letters"):
        np.testing.assert_array_equal(one[name][0], two[name][0])
    assert not np.array_equal(one["train"][0], two["train"][0])


def test_letters_fill_their_images_as_digits_do():
    found = digits.letters(50, np.random.default_rng(0))
    assert found.shape == (50, 8, 8, 1)
    assert found.dtype == np.float32
    assert found.min() == 0.0
    assert found.max() == 1.0
    assert np.all(found[:, [0, 7]].sum(axis=(2, 3)) > 0)
    np.testing.assert_array_equal(found * 16, np.round(found * 16))


@pytest.mark.slow
@pytest.mark.usefixtures("in_eager_mode")
def test_small_runs_and_leaves_its_results(tmp_path, capsys):
    out = tmp_path / "digits.json"
    digits.main(["flipout", "--small", "--seed", "5", "--out", str(out)])
    (found,) = json.loads(out.read_text())["results"]
    assert (found["method"], found["seed"]) == ("flipout", 5)
    for name in ("test", "rotated"):
        assert 0 <= found[name]["accuracy"] <= 1
        assert sum(number for number, _, _ in found[name]["reliability"]) == SMALL.tests
    assert 0 <= found["letters"]["auroc"] <= 1
    assert capsys.readouterr().out.startswith("seed 5, flipout, test: accuracy 0.")
    again = digits.run("flipout", 5, SMALL)
    assert found["rotated"] == again["rotated"], "a seed gave other scores"


@pytest.mark.usefixtures("in_eager_mode")
def test_validation_leaves_test_digits_alone(tmp_path):
    out = tmp_path / "digits.json"
    digits.main(["deterministic", "--small", "--validate", "--out", str(out)])
    (found,) = json.loads(out.read_text())["results"]
    assert "test" not in found
    assert 0 <= found["validation"]["accuracy"] <= 1
