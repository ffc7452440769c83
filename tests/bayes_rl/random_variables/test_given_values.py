import functools

import numpy as np
import pytest
import tensorflow as tf

import bayes_rl as ed


def test_numbers_that_are_not_whole_are_no_values_of_whole_ones():
    coins = functools.partial(ed.Bernoulli, probs=[0.9, 0.9], name="coins")
    np.testing.assert_array_equal(coins(value=np.array([1.0, 0.0])).value, [1, 0])
    message = r"value of random variable 'coins' must be of type int32, got \[0.9 0.8\]"
    with pytest.raises(ValueError, match=message):
        coins(value=np.array([0.9, 0.8]))


def test_a_value_of_another_type_is_named():
    message = "value of random variable 'x' must be of type float32, got float64"
    with pytest.raises(ValueError, match=message):
        ed.Normal(0.0, 1.0, name="x", value=tf.constant(1.0, tf.float64))
