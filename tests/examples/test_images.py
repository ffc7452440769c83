"""Tests of examples.images."""

import json
import math

import numpy as np
import pytest
from sklearn import datasets

from examples import images
from examples.methods.images_methods import METHODS, SMALL, Sizes


def test_images_are_digits_with_pixels_between():
    data = images.make_data(Sizes(), 0)
    assert {name: len(x) for name, x in data.items()} == {
        **{"train": 1200, "validation": 97},
        **{"test": 500, "rotated": 500},
    }
    for x in data.values():
        assert x.shape[1:] == (16, 16, 1)
        assert (x.min(), x.max(), x.dtype) == (0, 16, np.int32)
    means = data["test"][..., 0].reshape(500, 8, 2, 8, 2).mean(axis=(2, 4))
    digits = datasets.load_digits().images[-500:]
    assert np.corrcoef(means.ravel(), digits.ravel())[0, 1] > 0.95
    names = {name: {x.tobytes() for x in data[name]} for name in data}
    assert len(set.union(*names.values())) == sum(map(len, names.values()))


def test_seeds_choose_the_digits_of_training_alone():
    one, two = (images.make_data(SMALL, seed) for seed in (0, 1))
    for name in ("test", "rotated"):
        np.testing.assert_array_equal(one[name], two[name])
    assert not np.array_equal(one["train"], two["train"])


@pytest.mark.parametrize("whole", [True, False])
def test_bits_are_those_of_the_mean_probability_over_draws(whole):
    # of 256 pixels, each certain under one draw and a coin under the other
    nats = np.stack([np.zeros([3, 256]), np.full([3, 256], -math.log(2.0))])
    found = images.bits_per_dimension(nats.sum(axis=2) if whole else nats)
    assert found == pytest.approx(1 / 256 if whole else -math.log2(0.75), rel=1e-5)


@pytest.mark.slow
@pytest.mark.usefixtures("in_eager_mode")
@pytest.mark.parametrize(
    ("words", "methods"),
    [
        (["--method", "vae", "flow"], ["vae", "flow"]),
        ([], list(METHODS)),
    ],
    ids=["some", "all"],
)
def test_small_runs_and_leaves_its_results(tmp_path, capsys, monkeypatch, words, methods):
    rows, out = {}, tmp_path / "new" / "images.json"
    monkeypatch.setattr(images, "draw", lambda found, file: rows.update(found))
    images.main(["--small", *words, "--seed", "5", "--out", str(out)])
    results = json.loads(out.read_text())["results"]
    assert [found["method"] for found in results] == methods
    for found in results:
        for name in ("test", "rotated"):
            assert 0 < found[name]["bits_per_dimension"] < 10
    assert rows.keys() == {"digits", *methods}
    for drawn in map(np.asarray, rows.values()):
        assert drawn.shape == (SMALL.pictures, 16, 16, 1)
        np.testing.assert_array_equal(drawn, np.clip(np.round(drawn), 0, 16))
    capsys.readouterr()
    found, drawn = images.run("flow", 5, SMALL)
    assert found["test"] == results[methods.index("flow")]["test"], "a seed gave others"
    np.testing.assert_array_equal(drawn, rows["flow"])
    assert capsys.readouterr().out.startswith("seed 5, flow, test: bits_per_dimension ")


def test_a_picture_has_a_row_for_each_model(tmp_path):
    drawn = images.make_data(SMALL, 0)["train"][:2]
    images.draw(
        {"digits": drawn, "bayesian_transformer": drawn}, tmp_path / "new" / "a.png"
    )
    assert (tmp_path / "new" / "a.png").stat().st_size > 1000


def test_validation_replaces_no_results(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    images.main(["--small", "--validate", "--method", "pixels"])
    (file,) = (tmp_path / "logdir").glob("*.json")
    assert file.name == "images_validation.json"
    (found,) = json.loads(file.read_text())["results"]
    assert found.keys() == {"seed", "method", "seconds", "validation"}
