import copy

import numpy as np
import pytest
import tensorflow as tf
from tensorflow_probability import distributions as tfd

import bayes_rl as ed
from bayes_rl.random_variable import RandomVariable


class Counting(tfd.Normal):
    draws = 0

    def _sample_n(self, n, seed=None):
        type(self).draws += 1
        return super()._sample_n(n, seed)


def test_value_is_drawn_once_and_only_when_asked_for():
    Counting.draws = 0
    x = RandomVariable(Counting(0.0, 1.0), sample_shape=[2])
    assert x.shape == [2]
    assert x.dtype == tf.float32
    assert float(x.mean()) == 0.0
    assert Counting.draws == 0
    np.testing.assert_array_equal(x.value, x.value)
    assert Counting.draws == 1


def test_operators_are_those_of_the_value():
    x = ed.Normal(0.0, 1.0, value=3.0)
    assert float(x + 1.0) == 4.0
    assert float(1.0 - x) == -2.0
    assert float(x * x) == 9.0
    assert float(-x) == -3.0
    assert bool(x > 2.0)
    np.testing.assert_array_equal(np.ones(2, np.float32) + x, [4.0, 4.0])


def test_stands_where_a_tensor_can():
    x = ed.Normal(tf.zeros([2, 3]), 1.0)
    np.testing.assert_array_equal(tf.convert_to_tensor(x), x.value)
    np.testing.assert_array_equal(np.asarray(x), x.value)
    np.testing.assert_array_equal(tf.exp(x), tf.exp(x.value))
    assert len(x) == 2
    assert x.ndim == 2
    assert [row.shape for row in x] == [[3], [3]]
    assert tf.keras.layers.Dense(4)(x).shape == [2, 4]


def test_slice_slices_the_distribution_and_the_value():
    x = ed.Normal([0.0, 1.0], 1.0)
    assert float(x[1].mean()) == 1.0
    np.testing.assert_array_equal(x[1].value, x.value[1])


def test_methods_of_the_distribution_take_random_variables():
    x, y = ed.Normal(0.0, 1.0), ed.Normal(1.0, 1.0)
    assert float(x.kl_divergence(y)) == 0.5
    assert float(x.distribution.kl_divergence(y)) == 0.5
    np.testing.assert_allclose(x.log_prob(x), x.distribution.log_prob(x.value))


def test_copy_has_the_same_value():
    x = ed.Normal(0.0, 1.0)
    assert float(x) == float(copy.deepcopy(x))


def test_variable_of_eager_mode_keeps_its_value_when_a_function_asks_first():
    x = ed.Normal(0.0, 1.0)
    inside = tf.function(lambda: x + 0.0)()
    assert float(inside) == float(x)


def test_variable_made_in_a_function_is_drawn_anew_at_every_call():
    draw = tf.function(lambda: tf.convert_to_tensor(ed.Normal(0.0, 1.0)))
    assert float(draw()) != float(draw())


def test_function_takes_the_value_of_a_random_variable():
    function = tf.function(lambda x: x + 0.0)
    for _ in range(2):
        x = ed.Normal(0.0, 1.0)
        assert float(function(x)) == float(x)
    assert function.experimental_get_tracing_count() == 1


def test_wrong_shape_of_value_is_an_error():
    with pytest.raises(
        ValueError, match=r"value of .*'x' must have shape \(\), got \(2,\)"
    ):
        ed.Normal(0.0, 1.0, value=[1.0, 2.0], name="x")


def test_wrong_dtype_is_an_error():
    with pytest.raises(ValueError, match="has dtype float32, asked for int32"):
        tf.convert_to_tensor(ed.Normal(0.0, 1.0), tf.int32)


def test_string_shows_the_value():
    x = ed.Normal(0.0, 1.0, value=1.5)
    assert str(x) == 'RandomVariable("1.5", shape=(), dtype=float32)'
    assert repr(x) == "<ed.RandomVariable 'Normal' shape=() dtype=float32 numpy=1.5>"
