import numpy as np
import pytest
import tensorflow as tf

import bayes_rl as ed
from bayes_rl.layers.products import Layout, align, finish


@pytest.mark.parametrize(
    ("factors", "layout", "expected"),
    [
        ([7, 3], Layout(), [7, 1, 1, 3]),
        ([7, 3], Layout(2), [7, 1, 1, 3]),
        ([7, 9, 3], Layout(1), [7, 9, 1, 3]),
        ([7, 9], Layout(2, channels_first=True), [7, 9, 1, 1]),
        ([7, 9], Layout(1, channels_first=True), [7, 1, 9, 1]),
        ([2, 7, 3], Layout(2), [2, 7, 1, 1, 3]),
    ],
)
def test_leading_axes_meet_and_channels_meet(factors, layout, expected):
    assert align(tf.ones(factors), tf.ones([7, 9, 9, 3]), layout).shape == expected


def test_batch_and_channels_are_what_is_not_space():
    assert Layout(2).without_space([5, 7, 32, 33, 3]) == [5, 7, 3]
    assert Layout(2, channels_first=True).without_space([5, 7, 3, 32, 33]) == [5, 7, 3]
    assert Layout().without_space([5, 7, 3]) == [5, 7, 3]


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("bias", [[4], [2, 4]])
@pytest.mark.parametrize("rows", [3, 2**14])
def test_large_narrow_outputs_are_finished_as_small_ones(dtype, bias, rows):
    bias = tf.cast(tf.random.stateless_normal(bias, [0, 1]), dtype)
    outputs = tf.cast(tf.random.stateless_normal([2, rows, 4], [0, 2]), dtype)
    results = []
    for part in (outputs, tf.cast(outputs, tf.float32)):
        own = tf.cast(bias, part.dtype)
        with tf.GradientTape() as tape:
            tape.watch((part, own))
            finished = finish(part, own, tf.nn.relu)
            mean = tf.reduce_mean(tf.cast(finished, tf.float32))
        assert finished.dtype == part.dtype
        gradients = tape.gradient(mean, (part, own))
        results.append([tf.cast(x, tf.float32) for x in (finished, *gradients)])
    for narrow, exact in zip(*results, strict=True):
        np.testing.assert_allclose(narrow, exact, rtol=0.02, atol=0.02)


def test_float32_is_never_finished_in_another_way():
    outputs = tf.random.stateless_normal([2**15, 4], [0, 1])
    graph = tf.function(lambda x: finish(x, tf.ones([4]))).get_concrete_function(outputs)
    assert "BiasAdd" in {operation.type for operation in graph.graph.get_operations()}


@pytest.mark.parametrize(
    "name",
    [
        "DenseReparameterization",
        "DenseFlipout",
        "DenseVariationalDropout",
        "DenseHierarchical",
        "DenseBatchEnsemble",
        "DenseRank1",
        "DenseMultihead",
    ],
)
@pytest.mark.parametrize("dtype", [tf.int32, tf.uint8, tf.bool])
def test_dense_layers_take_whole_numbers_as_keras_does(name, dtype):
    layer = getattr(ed.layers, name)(4)
    inputs = tf.constant([[0, 1, 1], [1, 0, 1], [1, 1, 0], [0, 0, 1]])
    layer.build([4, 3])
    with ed.hold(layer, ed.sample_weights(layer, seed=1, batch_size=4)):
        expected = layer(tf.cast(inputs, tf.float32))
        found = layer(tf.cast(inputs, dtype))
    np.testing.assert_array_equal(found, expected)
