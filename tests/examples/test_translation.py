"""Tests of examples.translation."""

import dataclasses
import json
import pathlib
import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf

from bayes_rl import parallel
from examples import translation

ROOT = pathlib.Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (0, "zero"),
        (17, "seventeen"),
        (40, "forty"),
        (100, "one hundred"),
        (342, "three hundred and forty two"),
        (20_000, "twenty thousand"),
        (999_342, "nine hundred and ninety nine thousand three hundred and forty two"),
    ],
)
def test_numbers_have_words(number, words):
    assert " ".join(translation.words_of(number)) == words


def test_pairs_are_padded_and_shifted():
    (source,), (target,), (given,), (counts,) = translation.make_pairs([40], False, None)
    words = [translation.WORDS[index] for index in source]
    assert words == ["forty"] + [""] * 12
    assert target.tolist() == [4, 0, 10, 10, 10, 10, 10]
    assert given.tolist() == [10, 4, 0, 10, 10, 10, 10]
    assert counts.tolist() == [1, 1, 1, 0, 0, 0, 0]


def test_hesitation_adds_words_that_mean_nothing():
    generator = np.random.default_rng(0)
    sources, targets, _, _ = translation.make_pairs([40] * 50, True, generator)
    fillers = [translation.WORDS.index(word) for word in translation._FILLERS]
    added = np.isin(sources, fillers).sum(axis=1)
    assert set(added) == {1, 2}
    assert np.all((sources > 0).sum(axis=1) == 1 + added)
    assert np.all(targets[:, :2] == [4, 0])


def test_no_number_is_trained_and_tested():
    data = translation.make_data(translation.SMALL, 0)
    train, test = ({tuple(x) for x in data[name][1]} for name in ("train", "test"))
    assert len(train) == len(test) == 32
    assert not train & test
    np.testing.assert_array_equal(data["test"][1], data["hesitant"][1])


def test_a_number_is_right_where_all_its_digits_and_its_end_are():
    data = translation.make_pairs([40, 7], False, None)
    certain = np.eye(11)[data[1]] * 0.9 + 0.1 / 11
    certain[0, 1] = np.roll(certain[0, 1], 1)  # 41 for 40
    certain[1, 3] = np.roll(certain[1, 3], 1)  # after the end: it does not count
    found = translation.score(data, certain)
    assert found["digits_right"] == pytest.approx(4 / 5)
    assert found["numbers_right"] == 0.5
    high, low = 0.9 + 0.1 / 11, 0.1 / 11
    nats = -(4 * np.log(high) + np.log(low)) / 5
    assert found["negative_log_likelihood"] == pytest.approx(nats)
    assert found["calibration_error"] == pytest.approx(high - 4 / 5, abs=1e-5)


@pytest.mark.slow
@pytest.mark.usefixtures("in_eager_mode")
def test_small_runs_and_leaves_its_results(tmp_path, capsys):
    out = tmp_path / "new" / "translation.json"
    translation.main(["--small", "--steps", "2", "--seed", "5", "--out", str(out)])
    results = json.loads(out.read_text())["results"]
    assert [each["method"] for each in results] == ["deterministic", "flipout"]
    for each in results:
        assert len(each["losses"]) == 2
        assert 0 <= each["hesitant"]["calibration_error"] <= 1
    assert capsys.readouterr().out.startswith(
        "seed 5, deterministic, test: digits_right 0."
    )


@pytest.mark.parametrize(
    ("mesh", "message"),
    [
        ("2xq", "mesh must be batch x model devices, such as 2x4; got '2xq'"),
        ("3x4", "mesh 3x4 needs 12 devices, got 2 of kind CPU"),
    ],
)
def test_a_wrong_mesh_is_told_in_one_line(mesh, message, monkeypatch, capsys):
    monkeypatch.setattr(parallel, "make_virtual_cpus", lambda count: None)
    with pytest.raises(SystemExit) as ended:
        translation.main(["--small", "--mesh", mesh])
    assert ended.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"translation.py: {message}")


@pytest.mark.slow
def test_heads_that_a_mesh_does_not_divide_are_told_in_one_line(monkeypatch, capsys):
    monkeypatch.setattr(parallel, "make_virtual_cpus", lambda count: None)
    odd = dataclasses.replace(translation.SMALL, heads=1)
    monkeypatch.setattr(translation, "SMALL", odd)
    with pytest.raises(SystemExit):
        translation.main(["--small", "--mesh", "1x2", "--method", "flipout"])
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(
        "translation.py: heads of encoder_0_self must be a multiple of the 2"
    )


def _losses(optimizer, mesh=None, steps=20):
    sizes = translation.SMALL
    tf.keras.utils.set_random_seed(1)
    model = translation.make_model("flipout", sizes)
    if mesh:
        mesh = parallel.make_mesh(mesh)
        parallel.shard(model, mesh)
    data = translation.make_data(sizes, 1)["train"]
    optimizer = translation.OPTIMIZERS[optimizer]()
    return translation.train(model, data, optimizer, steps, sizes.batch, 1, mesh)


@pytest.mark.slow
@pytest.mark.parametrize(("optimizer", "mesh"), [("sgd", "2x1"), ("adam", "1x2")])
def test_losses_on_two_devices_are_those_of_one(optimizer, mesh):
    losses = _losses(optimizer)
    np.testing.assert_allclose(_losses(optimizer, mesh), losses, rtol=0, atol=1e-5)
    assert losses[-1] < losses[0]


@pytest.mark.slow
@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
def test_losses_on_eight_devices_are_those_of_one(optimizer, tmp_path):
    out = tmp_path / "translation.json"
    words = f"--small --method flipout --seed 1 --mesh 2x4 --optimizer {optimizer} --out"
    command = [sys.executable, "-m", "examples.translation", *words.split(), str(out)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (found,) = json.loads(out.read_text())["results"]
    np.testing.assert_allclose(found["losses"], _losses(optimizer), rtol=0, atol=1e-5)
