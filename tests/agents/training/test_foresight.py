"""Tests of agents.training.foresight, with critics that know what they say."""

import numpy as np
import pytest
import tensorflow as tf

from agents.training.foresight import discounted_return, value_report
from bayes_rl.weights import hold, mean_weights

SEED = tf.constant([3, 4])


class Fixed:
    """Critics that say what they are told to, and keep the features they are asked of."""

    discount = 0.5

    def __init__(self, *values):
        self._values = values
        self.asked = []

    def value(self, features):
        self.asked.append(features)
        return tf.constant(self._values)[:, tf.newaxis]


@pytest.fixture(scope="module")
def episodes(make_episodes):
    return make_episodes([[9.0, first, 0.0, 2.0, 0.0] for first in (1.0, 4.0)])


def test_discounted_return_leaves_out_the_reward_of_no_action():
    assert discounted_return([9.0, 1.0, 2.0, 4.0], 0.5) == 1.0 + 1.0 + 1.0
    assert discounted_return(np.array([9.0], np.float32), 0.5) == 0.0


def test_errors_of_episodes_do_not_cancel(model, episodes):
    # they return 1 + 2 / 4 and 4 + 2 / 4
    found = value_report(model, Fixed(2.5, 4.0), episodes, SEED)
    assert found == pytest.approx({"expected": 3.25, "returned": 3.0, "error": 0.75})


def test_critics_are_asked_of_the_latents_after_the_first_observations(model, episodes):
    critics = Fixed(0.0, 0.0)
    value_report(model, critics, episodes, SEED)
    (features,) = critics.asked
    first = tf.stack([episode["observation"][0] for episode in episodes])
    with hold(model, mean_weights(model)):
        expected = model.rssm.filter(
            model.rssm.initial(2),
            model.encode(model.preprocess(first, SEED)),
            tf.zeros([2, 1]),
            tf.constant([True, True]),
            0.0,
        )
    np.testing.assert_allclose(features[:, 0], expected.features, rtol=1e-4, atol=1e-5)
