import itertools

import numpy as np
import pytest
import tensorflow as tf

from bayes_rl.layers.ensembles.per_example import convolve_channels_of_each, convolve_each

GRID = [
    (size, strides, padding, dilation)
    for size, strides, padding, dilation in itertools.product(
        [(3, 3), (2, 1), (1, 4)], [(1, 1), (2, 2), (3, 3)], ["valid", "same"], [1, 2]
    )
    # TensorFlow has no strides with dilation.
    if dilation == 1 or strides == (1, 1)
]


def draw(*kernel_shape):
    inputs = tf.random.stateless_normal([2, 7, 8, 3], [0, 1])
    return inputs, tf.random.stateless_normal([2, *kernel_shape], [0, 2])


@pytest.mark.parametrize("options", GRID)
def test_each_example_is_convolved_with_its_kernel(options):
    size, strides, padding, dilation = options
    inputs, kernels = draw(*size, 3, 4)
    found = convolve_each(inputs, kernels, strides, padding, (dilation, dilation))
    depthwise = convolve_channels_of_each(
        inputs, kernels, strides, padding, (dilation, dilation)
    )
    for example in range(2):
        one, kernel = inputs[example : example + 1], kernels[example]
        expected = tf.nn.conv2d(one, kernel, strides, padding.upper(), None, dilation)
        np.testing.assert_allclose(found[example], expected[0], rtol=1e-4, atol=1e-5)
        expected = tf.nn.depthwise_conv2d(
            one, kernel, [1, *strides, 1], padding.upper(), None, [dilation] * 2
        )
        np.testing.assert_allclose(depthwise[example], expected[0], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("function", [convolve_each, convolve_channels_of_each])
def test_sizes_may_be_unknown(function):
    inputs, kernels = draw(3, 2, 3, 4)
    unknown = tf.function(
        lambda x, k: function(x, k, (2, 2), "same", (1, 1)),
        input_signature=[
            tf.TensorSpec([None, None, None, 3]),
            tf.TensorSpec([None, 3, 2, 3, 4]),
        ],
    )
    expected = function(inputs, kernels, (2, 2), "same", (1, 1))
    np.testing.assert_allclose(unknown(inputs, kernels), expected, rtol=1e-5, atol=1e-6)
