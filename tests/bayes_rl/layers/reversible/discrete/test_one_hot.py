import itertools

import numpy as np
import pytest
import tensorflow as tf

import bayes_rl as ed
from bayes_rl.layers import utils

OPERATIONS = {
    "one_hot_add": lambda a, b, n: (a + b) % n,
    "one_hot_minus": lambda a, b, n: (a - b) % n,
    "one_hot_multiply": lambda a, b, n: (a * b) % n,
}


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("vocab", [1, 6, 7])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_arithmetic_of_all_pairs(name, vocab, dtype):
    first, second = np.array(list(itertools.product(range(vocab), repeat=2))).T
    outputs = getattr(utils, name)(
        *(tf.one_hot(x, vocab, dtype=dtype) for x in (first, second))
    )
    expected = tf.one_hot(OPERATIONS[name](first, second, vocab), vocab, dtype=dtype)
    assert outputs.dtype == dtype
    np.testing.assert_allclose(outputs, expected, atol=1e-6)


@pytest.mark.parametrize("name", OPERATIONS)
def test_arithmetic_is_linear_in_both_arguments(name):
    operation = getattr(utils, name)
    first, second = (
        tf.nn.softmax(tf.random.stateless_normal([2, 3, 5], [0, seed])) for seed in (1, 2)
    )
    each = tf.eye(5)
    expected = sum(
        first[..., i, None] * second[..., j, None] * operation(each[i], each[j])
        for i, j in itertools.product(range(5), repeat=2)
    )
    np.testing.assert_allclose(operation(first, second), expected, atol=1e-6)


@pytest.mark.parametrize("name", OPERATIONS)
def test_arithmetic_compiles(name):
    operation = getattr(utils, name)
    first, second = tf.one_hot([1, 2], 5), tf.one_hot([3, 4], 5)
    compiled = tf.function(operation, jit_compile=True)(first, second)
    np.testing.assert_allclose(compiled, operation(first, second), atol=1e-6)


@pytest.mark.parametrize("axis", [-1, 0])
def test_argmax_has_the_gradient_of_a_softmax(axis):
    logits = tf.random.stateless_normal([3, 4], [0, 1])
    weights = tf.random.stateless_normal([3, 4], [0, 2])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(logits)
        hard = utils.one_hot_argmax(logits, 0.7, axis)
        soft = tf.nn.softmax(logits / 0.7, axis)
        losses = [tf.reduce_sum(weights * x) for x in (hard, soft)]
    np.testing.assert_array_equal(
        hard, logits == tf.reduce_max(logits, axis, keepdims=True)
    )
    ours, expected = (tape.gradient(loss, logits) for loss in losses)
    np.testing.assert_allclose(ours, expected, rtol=1e-5)


@pytest.mark.parametrize("vocab", [2, 7, 12])
def test_inverses_of_all_units(vocab):
    units = [k for k in range(vocab) if np.gcd(k, vocab) == 1]
    a = tf.one_hot(units, vocab)
    inverse = tf.function(utils.multiplicative_inverse, jit_compile=True)(a, vocab)
    np.testing.assert_array_equal(
        tf.argmax(utils.one_hot_multiply(a, inverse), -1), [1] * len(units)
    )
    expected = [utils.py_multiplicative_inverse(k, vocab) for k in units]
    assert tf.argmax(inverse, -1).numpy().tolist() == expected
    others = [k for k in range(vocab) if k not in units]
    assert not np.any(utils.multiplicative_inverse(tf.one_hot(others, vocab), vocab))


def test_no_inverse_is_an_error():
    with pytest.raises(
        ValueError, match="4 has no inverse modulo 6: both are multiples of 2"
    ):
        utils.py_multiplicative_inverse(4, 6)
    with pytest.raises(ValueError, match="known integer up to 5, got 7"):
        utils.multiplicative_inverse(tf.one_hot(2, 5), 7)


def test_smart_constant_value():
    assert utils.smart_constant_value(True) is True
    assert utils.smart_constant_value(tf.constant(False)) is False
    found = []
    tf.function(lambda x: found.append(utils.smart_constant_value(x)))(tf.constant(True))
    assert found == [None]
    with pytest.raises(TypeError, match="must be a bool, 0, 1 or a tensor, got 'yes'"):
        utils.smart_constant_value("yes")


def test_utils_are_reached_as_in_edward2():
    assert ed.layers.utils.one_hot_add is utils.one_hot_add
    assert "utils" in ed.layers.__all__
