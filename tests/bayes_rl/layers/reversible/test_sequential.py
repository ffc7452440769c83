import numpy as np
import pytest
import tensorflow as tf

import bayes_rl as ed
from bayes_rl.layers.reversible.base import ReversibleLayer
from tests.bayes_rl.layers.jacobians import log_det_of_inverse, randomize

LAYERS = ed.layers


def residual(index, layer_class=tf.keras.layers.Dense, dtype="float64"):
    f, g = (layer_class(2, "tanh", name=f"{x}{index}", dtype=dtype) for x in "fg")
    return LAYERS.ReversibleResidual(f, g, dtype=dtype)


def mixed():
    """Reversible layers of all kinds."""
    options = {"dtype": "float64"}
    network = tf.keras.layers.Dense(8, "tanh", **options)
    shift = tf.keras.layers.Dense(4, "tanh", **options)
    return [
        LAYERS.RealNVP(network, mask=[1, 0, 1, 0], **options),
        residual(0),
        LAYERS.ActNorm(**options),
        LAYERS.NICE(shift, mask=[0, 0, 1, 1], **options),
    ]


def make(layers, stddev=0.7):
    chain = LAYERS.ReversibleSequential(layers, dtype="float64")
    inputs = tf.random.stateless_normal([5, 4], [0, 1], dtype=tf.float64)
    chain(inputs)
    randomize(chain, stddev)
    return chain, inputs


def plain(chain, inputs):
    for layer in chain.layers:
        inputs = layer(inputs)
    return inputs


CHAINS = {"residual": lambda: [residual(i) for i in range(6)], "mixed": mixed}


@pytest.fixture(scope="module", params=CHAINS)
def chain(request):
    return make(CHAINS[request.param]())


def gradients(function, inputs, variables):
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        loss = tf.reduce_sum(tf.sin(function(inputs)))
    return tape.gradient(loss, [inputs, *variables])


@pytest.mark.parametrize("options", [None, {}, {"jit_compile": True}])
def test_gradients_equal_ordinary_ones(chain, options):
    layer, inputs = chain

    def compute(x):
        return gradients(layer, x, layer.trainable_variables)

    ours = (compute if options is None else tf.function(compute, **options))(inputs)
    expected = gradients(lambda x: plain(layer, x), inputs, layer.trainable_variables)
    assert len(ours) > 8
    for one, other in zip(ours, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-10)


def test_reverse_and_log_determinant(chain):
    layer, inputs = chain
    outputs = layer(inputs)
    np.testing.assert_allclose(outputs, plain(layer, inputs))
    np.testing.assert_allclose(layer.reverse(outputs), inputs, atol=1e-10)
    ours = layer.log_det_jacobian(outputs)
    np.testing.assert_allclose(
        tf.broadcast_to(ours, [5]), log_det_of_inverse(layer, inputs), atol=1e-10
    )


def test_log_determinant_of_one_vector_counts_for_each_vector():
    class Double(ReversibleLayer, tf.keras.layers.Layer):
        """Twice the inputs, with the log determinant of any one vector: []."""

        event_ndims = 1

        def call(self, inputs):
            return 2.0 * inputs

        def reverse(self, outputs):
            return outputs / 2.0

        def log_det_jacobian(self, outputs):
            return tf.constant(-2.0 * np.log(2.0), outputs.dtype)

    outputs = tf.zeros([3, 5, 2], tf.float64)
    f, g = (tf.keras.layers.Dense(1, dtype="float64") for _ in range(2))
    block = LAYERS.ReversibleResidual(f, g, dtype="float64")
    chain = LAYERS.ReversibleSequential([Double(), block], dtype="float64")
    chain(outputs)
    found = chain.log_det_jacobian(outputs)
    np.testing.assert_allclose(found, np.full(3, -10.0 * np.log(2.0)))


@pytest.mark.parametrize("name", ["DenseReparameterization", "DenseFlipout"])
def test_random_weights_are_the_same_in_both_passes(name):
    """Gradients at a fresh draw equal those at the same draw, held in a plain chain."""
    layer, inputs = make([residual(i, getattr(LAYERS, name)) for i in range(3)])
    variables = layer.trainable_variables

    def held(x):
        with ed.hold(layer, ed.sample_weights(layer, batch_size=5)):
            return plain(layer, x)

    found = []
    for function in (layer, held):
        tf.keras.utils.set_random_seed(1)
        found.append(gradients(function, inputs, variables))
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-7, atol=1e-9)
    again = gradients(layer, inputs, variables)
    assert np.max(abs(again[0] - found[0][0])) > 1e-3


def test_held_draws_reach_the_posterior():
    layer, inputs = make([residual(i, LAYERS.DenseFlipout) for i in range(2)])
    variables = layer.trainable_variables
    results = []
    for function in (layer, lambda x: plain(layer, x)):
        with tf.GradientTape() as tape:
            weights = ed.sample_weights(layer, [3], seed=1, batch_size=5)
            with ed.hold(layer, weights):
                loss = tf.reduce_sum(tf.sin(function(tf.stack([inputs] * 3))))
        results.append(tape.gradient(loss, variables))
    for one, other in zip(*results, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("name", ["DenseReparameterization", "DenseFlipout"])
def test_inputs_that_go_whole_to_each_draw_have_the_sum_of_gradients(name):
    layer, inputs = make([residual(i, getattr(LAYERS, name)) for i in range(2)])
    before = tf.keras.layers.Dense(4, dtype="float64")
    before.build(inputs.shape)
    variables = [*before.trainable_variables, *layer.trainable_variables]
    results = []
    for function in (layer, lambda x: plain(layer, x)):
        with tf.GradientTape() as tape:
            tape.watch(inputs)
            with ed.hold(layer, ed.sample_weights(layer, [3], seed=1)):
                loss = tf.reduce_sum(tf.sin(function(before(inputs))))
        results.append(tape.gradient(loss, [inputs, *variables]))
    for one, other in zip(*results, strict=True):
        assert one.shape == other.shape
        np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-10)


def test_graph_keeps_no_activations_of_the_inner_layers():
    """The backward pass reads outputs and variables alone of the forward pass."""
    layer, inputs = make([residual(i) for i in range(6)])
    function = tf.function(lambda x: gradients(layer, x, layer.trainable_variables))
    graph = function.get_concrete_function(inputs).graph
    tanh = [x for x in graph.get_operations() if x.type == "Tanh"]
    assert len(tanh) == 2 * 12  # once more than forward
    forward = set(tanh[:12])
    kept = [
        x
        for x in graph.get_operations()
        if x.type == "TanhGrad" and x.inputs[0].op in forward
    ]
    assert not kept
