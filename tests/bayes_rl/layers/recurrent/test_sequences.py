"""Tests of bayes_rl.layers.recurrent.sequences: what is drawn when, in every loop."""

import copy
import gc
import threading
import weakref

import numpy as np
import pytest
import tensorflow as tf

import bayes_rl as ed
from tests.bayes_rl.layers.recurrent.loops import (
    BATCH,
    CELLS,
    FEATURES,
    INPUTS,
    LOOPS,
    STEPS,
    UNITS,
    by_hand,
    by_rnn,
    by_rnn_from_state,
    growth,
    make,
    make_summing,
    repeat,
)

# Every kind of state and of estimator; the other cells share the code of both.
DIFFERENT = [
    cell
    if cell is not ed.layers.LSTMCellReparameterization
    and cell is not ed.layers.GRUCellFlipout
    else pytest.param(cell, marks=pytest.mark.slow)
    for cell in CELLS
]
# Every cell in one loop, and one cell in every loop.
IN_LOOPS = [
    *((cell_class, by_rnn) for cell_class in CELLS),
    *((ed.layers.LSTMCellFlipout, loop) for loop in LOOPS if loop is not by_rnn),
]


@pytest.mark.parametrize(
    ("cell_class", "loop", "in_graph"),
    [*((*each, True) for each in IN_LOOPS), *((cell, by_hand, False) for cell in CELLS)],
)
def test_draw_is_constant_in_a_sequence_new_in_the_next_and_differentiable(
    cell_class, loop, in_graph
):
    cell = make_summing(cell_class)

    def call():
        with tf.GradientTape() as tape:
            outputs = loop(cell, INPUTS)
        return outputs, tape.gradient(outputs, cell.trainable_variables)

    if in_graph:
        call = tf.function(call, autograph=False)
    (first, gradients), (second, _) = call(), call()
    expected = first[:, :1] * growth(cell_class)[:, np.newaxis]
    np.testing.assert_allclose(first, expected, rtol=1e-4, atol=1e-6)
    assert np.all(first != second)
    assert all(gradient is not None for gradient in gradients)


@pytest.mark.parametrize("cell_class", DIFFERENT)
def test_batch_size_may_change_between_calls(cell_class):
    rnn = tf.keras.layers.RNN(make(cell_class))
    sizes = tf.nest.map_structure(lambda _: UNITS, rnn.cell.state_size)

    def call(inputs):
        state = tf.nest.map_structure(lambda n: tf.zeros([len(inputs), n]), sizes)
        return rnn(inputs), rnn(inputs, initial_state=state)

    unknown = tf.TensorSpec([None, STEPS, FEATURES])
    compiled = tf.function(
        lambda inputs: rnn(inputs), input_signature=[unknown], autograph=False
    )
    for batch in (2, 5, 3):
        inputs = tf.ones([batch, STEPS, FEATURES])
        for outputs in (*call(inputs), compiled(inputs)):
            assert outputs.shape == [batch, UNITS]


@pytest.mark.parametrize("cell_class", CELLS)
def test_step_without_a_sequence_draws_anew_in_every_function(cell_class):
    cell = make_summing(cell_class)
    state = cell.get_initial_state(INPUTS)
    cell(INPUTS, state)  # A sequence in eager mode is not seen by functions.

    @tf.function(autograph=False)
    def call(inputs):
        with tf.GradientTape() as tape:
            first, second = (cell(inputs, state)[0] for _ in range(2))
        return first, second, tape.gradient(first, cell.trainable_variables)

    first, second, gradients = call(INPUTS)
    assert np.all(first != second)
    assert np.all(first != call(INPUTS)[0])
    assert all(gradient is not None for gradient in gradients)


@pytest.mark.parametrize(
    ("cell_class", "in_graph"),
    [*((cell_class, False) for cell_class in CELLS), (ed.layers.LSTMCellFlipout, True)],
)
def test_step_after_the_call_of_an_rnn_draws_anew(cell_class, in_graph):
    cell = make_summing(cell_class)
    state = tf.nest.map_structure(lambda n: tf.zeros([BATCH, n]), cell.state_size)

    def call():
        by_rnn_from_state(cell, INPUTS)
        with tf.GradientTape() as tape:
            first, second = (cell(INPUTS, state)[0] for _ in range(2))
        return first, second, tape.gradient(first, cell.trainable_variables)

    if in_graph:
        call = tf.function(call, autograph=False)
    first, second, gradients = call()
    assert np.all(first != second)
    assert all(gradient is not None for gradient in gradients)


@pytest.mark.parametrize("cell_class", CELLS)
def test_initial_state_begins_a_sequence_at_every_use(cell_class):
    cell = make_summing(cell_class)
    state = cell.get_initial_state(INPUTS)
    outputs = []
    for _ in range(2):
        with tf.GradientTape() as tape:
            output, _ = cell(INPUTS, state)
        gradients = tape.gradient(output, cell.trainable_variables)
        assert all(gradient is not None for gradient in gradients)
        outputs.append(output)
    assert np.all(outputs[0] != outputs[1])


def test_cell_is_built_in_one_function_and_used_in_another():
    cell = ed.layers.LSTMCellFlipout(UNITS)
    rnn = tf.keras.layers.RNN(cell)
    build, use = (tf.function(lambda x: rnn(x), autograph=False) for _ in range(2))
    assert np.all(np.isfinite(build(repeat(INPUTS))))
    assert np.all(use(repeat(INPUTS)) != use(repeat(INPUTS)))


@pytest.mark.parametrize("cell_class", DIFFERENT)
def test_nothing_is_left_on_the_cell(cell_class):
    cell = make(cell_class)
    names = set(vars(cell))
    tf.function(lambda: by_rnn(cell, INPUTS), autograph=False)()
    by_hand(cell, INPUTS)
    assert set(vars(cell)) == names
    copied = copy.deepcopy(cell)
    assert by_hand(copied, INPUTS).shape == [BATCH, STEPS, UNITS]


def test_graph_of_a_sequence_is_collected():
    cell = make(ed.layers.LSTMCellFlipout)
    call = tf.function(lambda: by_hand(cell, INPUTS), autograph=False)
    graph = weakref.ref(call.get_concrete_function().graph)
    del call
    gc.collect()
    assert graph() is None


def test_threads_have_their_own_sequences():
    cell = make_summing(ed.layers.LSTMCellFlipout)
    output, state = cell(INPUTS, cell.get_initial_state(INPUTS))
    others = []
    thread = threading.Thread(target=lambda: others.append(by_hand(cell, INPUTS)))
    thread.start()
    thread.join()
    np.testing.assert_allclose(cell(INPUTS, state)[0], 2 * output, rtol=1e-4)
    assert np.all(others[0][:, 0] != output)


@pytest.mark.parametrize("cell_class", DIFFERENT)
def test_dropout_masks_are_constant_in_a_sequence_and_only_in_training(cell_class):
    cell = make_summing(cell_class, dropout=0.4, recurrent_dropout=0.3)
    rnn = tf.keras.layers.RNN(cell, return_sequences=True)
    weights = ed.sample_weights(cell, seed=1)

    @tf.function(autograph=False)
    def call(training):
        with ed.hold(cell, weights):
            return rnn(repeat(INPUTS), training=training)

    outputs, plain = call(True), call(False)
    expected = outputs[:, :1] * growth(cell_class)[:, np.newaxis]
    np.testing.assert_allclose(outputs, expected, rtol=1e-4, atol=1e-6)
    assert np.any(abs(outputs - plain) > 1e-5)
    np.testing.assert_array_equal(plain, call(False))


def test_stacked_and_bidirectional_cells_draw_once_a_sequence():
    cells = [make_summing(ed.layers.GRUCellFlipout) for _ in range(2)]
    cells[1] = ed.layers.LSTMCellFlipout(UNITS)
    stacked = tf.keras.layers.RNN(tf.keras.layers.StackedRNNCells(cells[:1]))
    stacked.return_sequences = True
    outputs = tf.function(lambda: stacked(repeat(INPUTS)), autograph=False)()
    expected = outputs[:, :1] * growth(type(cells[0]))[:, np.newaxis]
    np.testing.assert_allclose(outputs, expected, rtol=1e-4, atol=1e-6)
    both = tf.keras.layers.Bidirectional(tf.keras.layers.RNN(cells[1]))
    assert both(repeat(INPUTS)).shape == [BATCH, 2 * UNITS]


@pytest.mark.slow
def test_saved_model_draws_anew_at_every_call(tmp_path):
    rnn = tf.keras.layers.RNN(ed.layers.LSTMCellFlipout(UNITS))
    model = tf.keras.Sequential([tf.keras.Input([STEPS, FEATURES]), rnn])
    model.save(tmp_path / "model")
    loaded = tf.saved_model.load(str(tmp_path / "model"))
    for batch in (2, 5):
        inputs = tf.ones([batch, STEPS, FEATURES])
        assert np.all(loaded(inputs) != loaded(inputs))


def test_first_step_of_flipout_in_a_loop_needs_the_batch_size():
    cell = make(ed.layers.LSTMCellFlipout)

    @tf.function(autograph=False)
    def call():
        cell.reset_dropout_mask()
        state = [tf.zeros([BATCH, UNITS])] * 2
        return tf.while_loop(lambda _: True, lambda s: [cell(INPUTS, s)[1]], [state])

    with pytest.raises(RuntimeError, match="call get_initial_state before the loop"):
        call()


def test_initial_state_without_a_batch_size_is_an_error():
    cell = make(ed.layers.GRUCellFlipout, name="memory")
    with pytest.raises(ValueError, match="'memory' needs inputs or batch_size"):
        cell.get_initial_state()
