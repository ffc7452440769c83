import numpy as np

from benchmarks.oracles import __main__ as oracles
from benchmarks.oracles.others import STRUCTURES


def test_questions_have_what_others_need():
    given = oracles.make_questions()
    assert given["inputs"].shape == (oracles.COUNT, 3)
    _, noise = oracles.ivon_answers(given)
    assert noise["noise"].shape == (oracles.STEPS, 3)
    assert set(STRUCTURES) == {"full", "kronecker", "diagonal"}


def test_difference_is_relative_to_the_largest():
    assert oracles.difference([1.0, 10.0], [2.0, 10.0]) == 0.1


def test_conformal_answers_are_ends_and_sets():
    found = oracles.conformal_answers(oracles.make_questions())
    assert found["intervals"].shape == (oracles.COUNT, 2)
    assert found["sets"].dtype == np.bool_
