"""Tests of dense layers whose weights are held."""

import numpy as np
import pytest
import tensorflow as tf

import bayes_rl as ed
from tests.bayes_rl.layers.test_dense import LAYERS, make, mean_and_stddev


def test_held_layer_has_the_graph_of_keras_dense():
    layer, reference = make(LAYERS[0]), tf.keras.layers.Dense(4)
    reference.build([None, 3])

    def call_held(inputs, kernel):
        with ed.hold(layer, {f"{layer.name}/kernel": kernel}):
            return layer(inputs)

    def operations(function, *shapes):
        specs = [tf.TensorSpec(shape) for shape in shapes]
        graph = tf.function(function).get_concrete_function(*specs).graph
        ignored = ("Placeholder", "ReadVariableOp", "NoOp")
        return [op.type for op in graph.get_operations() if op.type not in ignored]

    assert operations(call_held, [5, 3], [3, 4]) == operations(reference, [5, 3])


@pytest.mark.parametrize("layer_class", LAYERS)
@pytest.mark.parametrize("batch_size", [None, 5])
@pytest.mark.parametrize("shape", [[5, 3], [5, 6, 3]])
def test_many_held_draws_equal_separate_holds(layer_class, batch_size, shape):
    layer = make(layer_class, bias_initializer="trainable_normal")
    weights = ed.sample_weights(layer, [7], seed=(1, 2), batch_size=batch_size)
    inputs = tf.random.stateless_normal([7, *shape], [0, 1])
    with ed.hold(layer, weights):
        together = layer(inputs)
    assert together.shape == [7, *shape[:-1], 4]
    for draw in range(7):
        with ed.hold(layer, {name: value[draw] for name, value in weights.items()}):
            np.testing.assert_allclose(together[draw], layer(inputs[draw]), atol=1e-5)


def test_many_held_draws_take_shared_inputs():
    layer = make(LAYERS[0])
    with ed.hold(layer, ed.sample_weights(layer, [7], seed=1)):
        np.testing.assert_allclose(
            layer(tf.ones([5, 3])), layer(tf.ones([7, 5, 3])), rtol=1e-5
        )


def test_number_of_held_draws_may_be_unknown():
    layer = make(LAYERS[0])
    kernels = ed.sample_weights(layer, [7], seed=1)[f"{layer.name}/kernel"]

    @tf.function(input_signature=[tf.TensorSpec([None, 3, 4])])
    def call(kernels):
        with ed.hold(layer, {f"{layer.name}/kernel": kernels}), ed.tape() as draws:
            outputs = layer(tf.ones([5, 3]))
        return outputs, draws[f"{layer.name}/kernel"].log_prob(kernels)

    outputs, log_prob = call(kernels)
    assert outputs.shape == [7, 5, 4]
    expected = tf.reduce_sum(layer.kernel.distribution.log_prob(kernels))
    np.testing.assert_allclose(log_prob, expected, rtol=1e-5)


@pytest.mark.parametrize("dtype", [np.float64, np.float16])
def test_weights_may_be_held_in_any_precision(dtype):
    layer = make(ed.layers.DenseFlipout)
    weights = ed.sample_weights(layer, seed=3, batch_size=5)
    inputs = tf.random.stateless_normal([5, 3], [0, 1])
    with ed.hold(layer, weights):
        expected = layer(inputs)
    with ed.hold(layer, {name: x.numpy().astype(dtype) for name, x in weights.items()}):
        np.testing.assert_allclose(layer(inputs), expected, atol=5e-3)
        assert layer.kernel.dtype == tf.float32


def test_held_signs_give_the_flipout_formula():
    layer = make(ed.layers.DenseFlipout, use_bias=False)
    weights = ed.sample_weights(layer, seed=3, batch_size=5)
    inputs = tf.random.stateless_normal([5, 3], [0, 1])
    with ed.hold(layer, weights):
        outputs = layer(inputs)
    kernel, sign_input, sign_output = (
        weights[f"{layer.name}/kernel{suffix}"].numpy()
        for suffix in ("", "/sign_input", "/sign_output")
    )
    mean = mean_and_stddev(layer)[0]
    for example in range(5):
        flips = np.outer(sign_input[example], sign_output[example])
        own_kernel = mean + flips * (kernel - mean)
        expected = inputs[example].numpy() @ own_kernel
        np.testing.assert_allclose(outputs[example], expected, atol=1e-5)
    assert set(np.unique(sign_input)) == {-1.0, 1.0}


def test_held_kernel_without_signs_is_used_as_it_is():
    layer = make(ed.layers.DenseFlipout, use_bias=False)
    kernel = np.arange(12.0, dtype=np.float32).reshape(3, 4)
    with ed.hold(layer, {f"{layer.name}/kernel": kernel}):
        np.testing.assert_allclose(layer(tf.eye(3)), kernel)


def test_wrong_number_of_inputs_for_the_held_draws_is_an_error():
    layer = make(LAYERS[0])
    with (
        ed.hold(layer, ed.sample_weights(layer, [7], seed=1)),
        pytest.raises(ValueError, match=r"7 draws .* shape \[7, ..., 3\], got \(6, 5, 3\)"),
    ):
        layer(tf.ones([6, 5, 3]))
