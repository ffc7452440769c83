"""What is compiled, and for what."""

import functools

import numpy as np
import pytest
import tensorflow as tf

from bayes_rl.numerics.fused import fused, is_fused

LARGE, SMALL = [300, 300], [3, 3]


def is_compiled(x, factor):
    """Factor where the function is compiled, else -factor."""
    is_graph = not tf.executing_eagerly()
    return tf.zeros_like(x) + (factor if is_graph else -factor)


@pytest.mark.parametrize(("shape", "sign"), [(LARGE, 1.0), (SMALL, -1.0)])
def test_large_tensors_are_compiled_for_each_constant(shape, sign):
    function = fused(is_compiled)
    for factor in (2.0, 3.0, 2.0):
        np.testing.assert_array_equal(
            function(tf.ones(shape), factor=factor), tf.fill(shape, sign * factor)
        )


def test_what_a_tensor_grows_to_counts():
    tensor = tf.zeros([2**13])
    assert not is_fused(tensor)
    assert is_fused(tensor, growth=8)
    grown = functools.partial(fused, growth=8)(is_compiled)
    assert grown(tensor, factor=1.0)[0] == 1.0


def test_tensors_of_unknown_shape_are_not_compiled():
    double = fused(lambda x: 2.0 * x)

    @tf.function(input_signature=[tf.TensorSpec([None, 300])])
    def call(x):
        assert not is_fused(x)
        return double(x)

    np.testing.assert_array_equal(call(tf.ones(LARGE)), tf.fill(LARGE, 2.0))
