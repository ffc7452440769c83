"""Tests of examples.sequence."""

import json

import numpy as np
import pytest

from examples import sequence
from examples.methods.sequence_methods import SMALL, Sizes, nats
from examples.sequence import SYMBOLS


@pytest.mark.parametrize(
    ("string", "counts"),
    [
        ("BTXSE", [2, 2, 2, 1]),  # after B: T or P, after T: S or X, after X: X or S
        ("BPVVE", [2, 2, 2, 1]),
        ("BTSSXXTVPSE", [2, 2, 2, 2, 2, 2, 2, 2, 2, 1]),
    ],
)
def test_the_grammar_says_how_many_symbols_may_follow(string, counts):
    assert sequence.choices(string) == counts


def test_what_breaks_the_grammar_is_no_string():
    with pytest.raises(KeyError):
        sequence.choices("BTTSE")


def test_strings_are_different_and_as_long_as_asked():
    data = sequence.make_data(Sizes(), 0)
    assert {name: len(set(data[name])) for name in data} == {
        "train": 50,
        "test": 100,
        "long": 100,
    }
    assert not set(data["train"]) & set(data["test"])
    assert max(map(len, data["train"])) <= 14 < min(map(len, data["long"]))


def test_labels_are_the_symbols_that_follow():
    (inputs,), (labels,) = sequence.encode(["BTXSE"], 7)
    assert [SYMBOLS[np.argmax(x)] for x in inputs[:5]] == list("BTXSE")
    assert [SYMBOLS[x] for x in labels[:4]] == list("TXSE")
    assert labels[4:].tolist() == [-1, -1]
    assert inputs[5:].sum() == 0


def test_padding_costs_nothing():
    logits = np.zeros([1, 3, 7], np.float32)
    found = nats(np.array([[2, -1, -1]]), logits)
    np.testing.assert_allclose(found, [np.log(7)], rtol=1e-6)


def test_a_model_that_knows_the_grammar_has_its_entropy():
    (_, labels) = sequence.encode(["BTXSE"], 5)
    probabilities = np.zeros([1, 1, 4, 7])
    for place, symbols in enumerate(["TP", "SX", "XS", "E"]):
        for symbol in symbols:
            probabilities[0, 0, place, SYMBOLS.index(symbol)] = 1 / len(symbols)
    found = sequence.score(["BTXSE"], labels, probabilities)
    assert found["negative_log_likelihood"] == pytest.approx(found["truth"], abs=1e-6)
    assert found["total_entropy_ambiguous"] == pytest.approx(np.log(2))
    assert found["total_entropy_certain"] == pytest.approx(0, abs=1e-6)
    assert found["epistemic_entropy_ambiguous"] == pytest.approx(0, abs=1e-6)


@pytest.mark.slow
@pytest.mark.usefixtures("in_eager_mode")
def test_small_runs_and_leaves_its_results(tmp_path, capsys):
    out = tmp_path / "new" / "sequence.json"
    methods = ["deterministic", "reparameterization", "flipout"]
    words = ["--small", "--seed", "5", "--method", *methods, "--out", str(out)]
    sequence.main(words)
    results = json.loads(out.read_text())["results"]
    assert [found["method"] for found in results] == methods
    plain, *bayesian = results
    assert plain["long"]["epistemic_entropy_certain"] == pytest.approx(0, abs=1e-5)
    for found in bayesian:
        assert found["long"]["epistemic_entropy_ambiguous"] > 0
    assert capsys.readouterr().out.startswith("seed 5, deterministic, test: accuracy 0.")
    again = sequence.run("flipout", 5, SMALL)
    assert results[-1]["long"] == again["long"], "a seed gave other scores"
