"""Tests of agents.planet.model.gru."""

import numpy as np
import pytest
import tensorflow as tf

from agents.planet.model.gru import GRUCell


@pytest.fixture
def cells():
    """A cell and that of Keras, with the same variables."""
    cell = GRUCell(4)
    keras = tf.keras.layers.GRUCell(
        4, recurrent_activation=tf.nn.sigmoid, reset_after=False
    )
    cell.build([None, 3])
    keras.build([None, 3])
    rng = np.random.default_rng(0)
    values = [rng.normal(size=x.shape).astype(np.float32) for x in cell.get_weights()]
    cell.set_weights(values)
    keras.set_weights(values)
    return cell, keras


def _roll(make_step, variables, inputs):
    """Belief after all inputs, and the gradients of its squares."""
    with tf.GradientTape() as tape:
        step = make_step()
        belief = tf.foldl(lambda belief, now: step(now, belief), inputs, tf.zeros([2, 4]))
        loss = tf.reduce_sum(belief**2)
    return belief, tape.gradient(loss, variables)


def test_beliefs_and_gradients_are_those_of_keras(cells, noise):
    cell, keras = cells
    inputs = noise(6, 2, 3)
    makers = cell.make_step, lambda: lambda now, belief: keras(now, [belief])[0]
    (belief, gradients), (belief_of_keras, gradients_of_keras) = (
        _roll(maker, x.trainable_variables, inputs)
        for maker, x in zip(makers, cells, strict=True)
    )
    np.testing.assert_allclose(belief, belief_of_keras, rtol=1e-5, atol=1e-6)
    for ours, theirs in zip(gradients, gradients_of_keras, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)


def test_bfloat16_leaves_belief_and_variables_in_float32(cells, noise):
    exact, _ = cells
    cell = GRUCell(4, dtype="mixed_bfloat16")
    cell.build([None, 3])
    cell.set_weights(exact.get_weights())
    inputs, belief = noise(2, 3), noise(2, 4, seed=1)
    rounded = cell.make_step()(inputs, belief)
    assert {x.dtype for x in (rounded, *cell.variables)} == {tf.float32}
    np.testing.assert_allclose(rounded, exact.make_step()(inputs, belief), atol=0.05)


@pytest.mark.parametrize("rows", [3, 2**14])
def test_bfloat16_has_the_values_and_gradients_of_float32_but_for_rounding(rows, noise):
    """With few rows by single operations, with many in one pass over memory."""
    results = []
    inputs, belief = noise(rows, 3), noise(rows, 4, seed=1)
    for dtype in ("float32", "mixed_bfloat16"):
        cell = GRUCell(4, dtype=dtype)
        cell.build([None, 3])
        cell.set_weights([noise(*x.shape, seed=2) for x in cell.variables])
        with tf.GradientTape() as tape:
            after = cell.make_step()(inputs, belief)
            loss = tf.reduce_mean(tf.reduce_sum(after**2, 1))
        results.append([after, *tape.gradient(loss, cell.trainable_variables)])
    for exact, rounded in zip(*results, strict=True):
        np.testing.assert_allclose(rounded, exact, atol=0.1)


def test_a_new_cell_remembers():
    cell = GRUCell(4)
    cell.build([None, 3])
    np.testing.assert_array_equal(cell.bias, [1] * 8 + [0] * 4)


def test_loops_do_not_slice_kernels_in_each_step(cells, noise):
    cell, _ = cells
    inputs = noise(6, 2, 3)
    function = tf.function(
        lambda: _roll(cell.make_step, cell.trainable_variables, inputs)
    ).get_concrete_function()
    in_loops = {
        operation.type
        for body in function.graph._functions.values()
        for operation in body.graph.get_operations()
    }
    assert "MatMul" in in_loops
    assert not {"ReadVariableOp", "StridedSliceGrad"} & in_loops
