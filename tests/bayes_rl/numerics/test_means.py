import numpy as np
import pytest
import tensorflow as tf

from bayes_rl.numerics.means import mean_cost


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_mean_is_that_of_all_elements_and_zero_of_none(dtype):
    costs = tf.random.stateless_normal([3, 5], [0, 1], dtype=dtype)
    np.testing.assert_allclose(mean_cost(costs), np.mean(costs), rtol=1e-5)
    assert mean_cost(costs).dtype == dtype
    assert mean_cost(costs[:, :0]) == 0.0


def test_gradient_of_no_costs_is_no_nan():
    weight = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        cost = mean_cost(weight * tf.zeros([0, 3]))
    assert tape.gradient(cost, weight) == 0.0
