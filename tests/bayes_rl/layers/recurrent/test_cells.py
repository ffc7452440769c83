"""Traps of recurrent cells: what is drawn when, for every cell and every kind of loop."""

import copy
import gc
import threading
import weakref

import numpy as np
import pytest
import tensorflow as tf

import bayes_rl as ed

STEPS, BATCH, FEATURES, UNITS = 4, 6, 3, 2
INPUTS = tf.random.stateless_normal([BATCH, FEATURES], [0, 1])
LSTMS = [
    ed.layers.LSTMCellReparameterization,
    ed.layers.LSTMCellFlipout,
    ed.layers.LSTMCellRank1,
]
GRUS = [ed.layers.GRUCellReparameterization, ed.layers.GRUCellFlipout]
CELLS = LSTMS + GRUS
ESTIMATORS = [cell for cell in CELLS if cell is not ed.layers.LSTMCellRank1]


def wide_posterior():
    return ed.initializers.TrainableNormal(
        mean_initializer="random_normal", stddev_initializer="zeros"
    )


def make(cell_class, **kwargs):
    """A cell with wide posteriors."""
    if cell_class is not ed.layers.LSTMCellRank1:
        kwargs.setdefault("kernel_initializer", wide_posterior())
        kwargs.setdefault("recurrent_initializer", wide_posterior())
    cell = cell_class(UNITS, **kwargs)
    cell.build([None, FEATURES])
    return cell


def make_summing(cell_class, **kwargs):
    """A cell whose outputs grow by a known factor where its draw is constant in time."""
    value = 1.0 if cell_class in LSTMS else 0.5
    return make(
        cell_class,
        activation="linear",
        recurrent_activation=lambda sums: value * tf.ones_like(sums),
        recurrent_initializer="zeros",
        recurrent_regularizer=None,
        use_bias=False,
        **kwargs,
    )


def growth(cell_class):
    """Outputs of a summing cell with constant inputs, in units of the first."""
    times = np.arange(1.0, STEPS + 1)
    return times if cell_class in LSTMS else 2 - 2 * 0.5**times


def repeat(inputs):
    return tf.repeat(inputs[:, tf.newaxis], STEPS, axis=1)


def by_rnn(cell, inputs, **kwargs):
    rnn = tf.keras.layers.RNN(cell, return_sequences=True, **kwargs)
    return rnn(repeat(inputs))


def by_rnn_from_state(cell, inputs):
    state = tf.nest.map_structure(
        lambda size: tf.zeros([inputs.shape[0], size]), cell.state_size
    )
    rnn = tf.keras.layers.RNN(cell, return_sequences=True)
    return rnn(repeat(inputs), initial_state=state)


def by_unrolled_rnn(cell, inputs):
    return by_rnn(cell, inputs, unroll=True)


def by_hand(cell, inputs):
    state, outputs = cell.get_initial_state(inputs), []
    for _ in range(STEPS):
        output, state = cell(inputs, state)
        outputs.append(output)
    return tf.stack(outputs, axis=1)


def by_while_loop(cell, inputs):
    initial = cell.get_initial_state(batch_size=inputs.shape[0])
    outputs = tf.TensorArray(tf.float32, STEPS)

    def step(time, state, outputs):
        output, state = cell(inputs, state)
        return time + 1, state, outputs.write(time, output)

    _, _, outputs = tf.while_loop(
        lambda time, *_: time < STEPS, step, (0, initial, outputs)
    )
    return tf.transpose(outputs.stack(), [1, 0, 2])


LOOPS = [by_rnn, by_rnn_from_state, by_unrolled_rnn, by_hand, by_while_loop]


@pytest.mark.parametrize("in_graph", [False, True])
@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("cell_class", CELLS)
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


@pytest.mark.parametrize("cell_class", CELLS)
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


@pytest.mark.parametrize("in_graph", [False, True])
@pytest.mark.parametrize("cell_class", CELLS)
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


@pytest.mark.parametrize("cell_class", CELLS)
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


@pytest.mark.parametrize("cell_class", ESTIMATORS)
def test_mean_and_variance_are_those_of_the_posterior(cell_class):
    value = 1.0 if cell_class in LSTMS else 0.5
    cell = make(
        cell_class,
        activation="linear",
        recurrent_activation=lambda sums: value * tf.ones_like(sums),
    )
    inputs = INPUTS[:2].numpy()
    state, carry = tf.random.stateless_normal([2, 2, UNITS], [0, 2]).numpy()
    is_lstm = cell_class in LSTMS
    states = [state, carry] if is_lstm else state
    count = 20_000
    calls = tf.function(
        lambda: tf.map_fn(lambda _: cell(inputs, states)[0], tf.zeros([count])),
        autograph=False,
    )
    outputs = calls().numpy()

    def of_candidate(key):
        posterior = ed.posteriors(cell)[f"{cell.name}/{key}"]
        part = slice(2 * UNITS, 3 * UNITS)
        return posterior.mean().numpy()[:, part], posterior.stddev().numpy()[:, part]

    (mean, stddev), (r_mean, r_stddev) = map(of_candidate, ("kernel", "recurrent_kernel"))
    # GRU: half of the state, and half of a candidate that sees half of the state.
    kept, gain, reset = (carry, 1.0, 1.0) if is_lstm else (0.5 * state, 0.5, 0.5)
    state = reset * state
    expected = kept + gain * (inputs @ mean + state @ r_mean)
    variance = gain**2 * (inputs**2 @ stddev**2 + state**2 @ r_stddev**2)
    standard_error = np.sqrt(variance / count)
    assert np.all(abs(outputs.mean(0) - expected) < 5 * standard_error)
    np.testing.assert_allclose(outputs.var(0), variance, rtol=5 * np.sqrt(2 / count))
    np.testing.assert_allclose((outputs.var(0) / variance).mean(), 1.0, atol=0.03)


@pytest.mark.parametrize("cell_class", ESTIMATORS)
def test_equal_examples_share_noise_only_without_flipout(cell_class):
    cell = make_summing(cell_class)
    inputs, count = tf.ones([2, FEATURES]), 5_000
    state = tf.nest.map_structure(lambda size: tf.zeros([2, size]), cell.state_size)
    calls = tf.function(
        lambda: tf.map_fn(lambda _: cell(inputs, state)[0], tf.zeros([count])),
        autograph=False,
    )
    outputs = calls().numpy()[..., 0]
    expected = 0.0 if "Flipout" in cell_class.__name__ else 1.0
    assert abs(np.corrcoef(outputs.T)[0, 1] - expected) < 5 / np.sqrt(count)


@pytest.mark.parametrize("cell_class", CELLS)
@pytest.mark.parametrize("batch_size", [None, BATCH])
@pytest.mark.parametrize("bias_initializer", ["random_normal", "trainable_normal"])
def test_many_held_draws_equal_separate_holds(cell_class, batch_size, bias_initializer):
    cell = make(cell_class, bias_initializer=bias_initializer)
    weights = ed.sample_weights(cell, [5], seed=(1, 2), batch_size=batch_size)
    inputs = tf.random.stateless_normal([5, BATCH, FEATURES], [0, 1])

    def two_steps(inputs):
        state = cell.get_initial_state(inputs)
        _, state = cell(inputs, state)
        return cell(inputs, state)[0]

    with ed.hold(cell, weights):
        together = two_steps(inputs)
        assert cell.get_initial_state(batch_size=BATCH)[0].shape[-2:] == [BATCH, UNITS]
    assert together.shape == [5, BATCH, UNITS]
    for draw in range(5):
        with ed.hold(cell, {name: value[draw] for name, value in weights.items()}):
            expected = two_steps(inputs[draw])
        np.testing.assert_allclose(together[draw], expected, atol=1e-5)


@pytest.mark.parametrize("cell_class", ESTIMATORS)
def test_many_held_draws_take_shared_inputs(cell_class):
    cell = make(cell_class)
    with ed.hold(cell, ed.sample_weights(cell, [5], seed=1)):
        state = cell.get_initial_state(tf.zeros([5, BATCH, FEATURES]))
        shared, _ = cell(INPUTS, state)
        separate, _ = cell(tf.stack([INPUTS] * 5), state)
    np.testing.assert_allclose(shared, separate, atol=1e-6)


@pytest.mark.parametrize("cell_class", ESTIMATORS)
@pytest.mark.parametrize("loop", [by_rnn, by_while_loop])
@pytest.mark.parametrize("inside", [False, True])
def test_held_weights_count_wherever_they_are_held(cell_class, loop, inside):
    cell = make(cell_class)
    weights = ed.sample_weights(cell, seed=1, batch_size=BATCH)
    with ed.hold(cell, weights):
        expected = loop(cell, INPUTS)
    loops = loop

    def call(weights):
        if not inside:
            with ed.hold(cell, weights):
                return loops(cell, INPUTS)
        by_hand(cell, INPUTS)  # What a sequence has drawn does not count.
        with ed.hold(cell, weights):
            return loops(cell, INPUTS)

    np.testing.assert_allclose(
        tf.function(call, autograph=False)(weights), expected, atol=1e-6
    )


def test_weights_may_be_held_inside_of_a_loop():
    cell = make(ed.layers.LSTMCellFlipout)
    weights = ed.mean_weights(cell)

    @tf.function(autograph=False)
    def call():
        def step(time, state):
            scaled = {name: tf.cast(time, tf.float32) * w for name, w in weights.items()}
            with ed.hold(cell, scaled):
                return time + 1, cell(INPUTS, state)[1]

        state = cell.get_initial_state(INPUTS)
        return tf.while_loop(lambda time, _: time < 2, step, (0, state))[1]

    with ed.hold(cell, {name: 0 * value for name, value in weights.items()}):
        _, state = cell(INPUTS, cell.get_initial_state(INPUTS))
    with ed.hold(cell, weights):
        _, state = cell(INPUTS, state)
    np.testing.assert_allclose(call()[0], state[0], atol=1e-6)


def test_held_draw_ends_with_its_context_within_a_sequence():
    cell = make_summing(ed.layers.GRUCellReparameterization)
    state = cell.get_initial_state(INPUTS)
    with ed.hold(cell, ed.mean_weights(cell)):
        held, state = cell(INPUTS, state)
    drawn, _ = cell(INPUTS, state)
    assert np.all(abs(drawn - 1.5 * held) > 1e-6)


def test_tape_records_each_kernel_once_and_condition_sets_it():
    cell = make(ed.layers.LSTMCellReparameterization, name="cell")
    seen = []

    def record(constructor, *args, **kwargs):
        seen.append(kwargs["name"])
        return constructor(*args, **kwargs)

    with ed.trace(record), ed.tape() as draws:
        by_rnn(cell, INPUTS)
    assert seen == list(draws) == ["cell/kernel", "cell/recurrent_kernel"]
    with ed.condition(**{name: draw.value for name, draw in draws.items()}):
        first, second = (by_rnn(cell, INPUTS) for _ in range(2))
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("cell_class", CELLS)
def test_masked_steps_keep_the_state(cell_class):
    rnn = tf.keras.layers.RNN(make_summing(cell_class), return_sequences=True)
    mask = tf.constant([[True, True, False, True]] * BATCH)
    outputs = tf.function(lambda: rnn(repeat(INPUTS), mask=mask), autograph=False)()
    np.testing.assert_array_equal(outputs[:, 2], outputs[:, 1])
    expected = outputs[:, 0] * growth(cell_class)[2]
    np.testing.assert_allclose(outputs[:, 3], expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("cell_class", CELLS)
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
