import numpy as np
import pytest
import tensorflow as tf

from bayes_rl import checks

WRONG = {
    "size": (lambda: checks.at_least_1(rank=1, units=0), "units must be at least 1"),
    "no size": (
        lambda: checks.at_least_1(units=None),
        "units must be at least 1, got None",
    ),
    "zero": (lambda: checks.above_0(delta=0.0), "delta must be above 0, got 0.0"),
    "one of many": (lambda: checks.above_0(x=np.array([1.0, -1.0])), "x must be above 0"),
    "no number": (lambda: checks.above_0(x=float("nan")), "x must be above 0, got nan"),
    "negative": (lambda: checks.not_negative(x=[1, -1]), "x must not be negative, got"),
    "choice": (lambda: checks.one_of(("a", "b"), x="c"), "one of 'a', 'b', got 'c'"),
    "endless": (lambda: checks.finite(tf.data.Dataset.range(3).repeat()), "for ever"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_what_is_wrong_is_named(kind):
    check, message = WRONG[kind]
    with pytest.raises(ValueError, match=message):
        check()


def test_what_is_right_passes():
    checks.at_least_1(units=1)
    checks.above_0(delta=1e-9, scale=np.array([1.0, 2.0]))
    checks.not_negative(x=0, y=[0.0, 1.0])
    checks.one_of({"a": 1}, x="a")
    checks.finite(tf.data.Dataset.range(3))
