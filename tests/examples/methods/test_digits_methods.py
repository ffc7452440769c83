"""Tests of examples.methods.digits_methods."""

import numpy as np
import pytest
import tensorflow as tf

from examples import digits
from examples.methods import digits_methods
from examples.methods.digits_methods import METHODS, SMALL, Sizes

DRAWS = dict.fromkeys(METHODS, SMALL.draws) | {
    "deterministic": 1,
    "deep_ensemble": SMALL.members,
    "rank1": SMALL.draws * SMALL.members,
    "batch_ensemble": SMALL.members,
    "sngp": 1,
}


@pytest.mark.slow
@pytest.mark.usefixtures("in_eager_mode")
@pytest.mark.parametrize(("method", "draws"), DRAWS.items())
def test_methods_give_probabilities_of_each_draw(method, draws):
    data = digits.make_data(SMALL, 0)
    found = METHODS[method](data["train"], SMALL, 0)(data["test"][0])
    assert found.shape == (SMALL.tests, draws, 10)
    np.testing.assert_allclose(found.sum(axis=-1), 1.0, atol=1e-5)
    assert (np.ptp(found, axis=1).max() > 0) == (draws > 1)


def test_members_come_apart_as_they_were_put_together():
    logits = tf.reshape(tf.range(60.0), [6, 10])  # two members of three examples
    found = digits_methods.split_members(logits, 2)
    np.testing.assert_array_equal(found[1, 0], logits[1])
    np.testing.assert_array_equal(found[1, 1], logits[4])


def test_each_member_is_told_the_same_label():
    logits = tf.math.log([[[0.5, 0.5], [0.25, 0.75]]])
    found = digits_methods.nats(tf.constant([[1]]), logits)
    np.testing.assert_allclose(found, [[np.log(2), -np.log(0.75)]], rtol=1e-6)


@pytest.mark.slow
def test_the_plain_net_learns_digits():
    found = digits.run("deterministic", 100, Sizes(), ["validation"])
    assert found["validation"]["accuracy"] > 0.95
