"""Moments, held weights and masks of every recurrent cell."""

import numpy as np
import pytest
import tensorflow as tf

import bayes_rl as ed
from tests.bayes_rl.layers.recurrent.loops import (
    BATCH,
    CELLS,
    ESTIMATORS,
    FEATURES,
    INPUTS,
    LSTMS,
    UNITS,
    by_hand,
    by_rnn,
    by_while_loop,
    growth,
    make,
    make_summing,
    repeat,
    wide_posterior,
)

WIDE = 300


@pytest.fixture(scope="module", params=ESTIMATORS)
def errors(request):
    """Outputs less their mean, in stddevs, [2, many]: units are drawn on their own."""
    cell_class, is_lstm = request.param, request.param in LSTMS
    value = 1.0 if is_lstm else 0.5
    cell = cell_class(
        WIDE,
        activation="linear",
        recurrent_activation=lambda sums: value * tf.ones_like(sums),
        kernel_initializer=wide_posterior(),
        recurrent_initializer=wide_posterior(),
    )
    cell.build([None, FEATURES])
    inputs = np.repeat(INPUTS[:1], 2, axis=0)
    normal = tf.random.stateless_normal([2, WIDE], [0, 2]).numpy()
    state, carry = (np.tile(x, [2, 1]) for x in normal)
    states = [state, carry] if is_lstm else state

    def of_candidate(key):
        posterior = ed.posteriors(cell)[f"{cell.name}/{key}"]
        part = slice(2 * WIDE, 3 * WIDE)
        return posterior.mean().numpy()[:, part], posterior.stddev().numpy()[:, part]

    (mean, stddev), (r_mean, r_stddev) = map(of_candidate, ("kernel", "recurrent_kernel"))
    # GRU: half of the state, and half of a candidate that sees half of the state.
    kept, gain, reset = (carry, 1.0, 1.0) if is_lstm else (0.5 * state, 0.5, 0.5)
    state = reset * state
    expected = kept + gain * (inputs @ mean + state @ r_mean)
    variance = gain**2 * (inputs**2 @ stddev**2 + state**2 @ r_stddev**2)
    outputs = np.concatenate([cell(inputs, states)[0] - expected for _ in range(10)], -1)
    return cell_class, outputs / np.tile(np.sqrt(variance), 10)


def test_mean_and_variance_are_those_of_the_posterior(errors):
    _, errors = errors
    count = errors.shape[-1]
    assert np.all(abs(errors.mean(-1)) < 5 / np.sqrt(count))
    np.testing.assert_allclose(errors.var(-1), 1.0, atol=5 * np.sqrt(2 / count))


def test_equal_examples_share_noise_only_without_flipout(errors):
    cell_class, errors = errors
    expected = 0.0 if "Flipout" in cell_class.__name__ else 1.0
    correlation = np.corrcoef(errors)[0, 1]
    assert abs(correlation - expected) < 5 / np.sqrt(errors.shape[-1])


@pytest.mark.parametrize("cell_class", CELLS)
@pytest.mark.parametrize(
    ("batch_size", "bias_initializer"),
    [(None, "random_normal"), (BATCH, "trainable_normal")],
)
def test_many_held_draws_equal_separate_holds(cell_class, batch_size, bias_initializer):
    cell = make(cell_class, bias_initializer=bias_initializer)
    weights = ed.sample_weights(cell, [3], seed=(1, 2), batch_size=batch_size)
    inputs = tf.random.stateless_normal([3, BATCH, FEATURES], [0, 1])

    def two_steps(inputs):
        state = cell.get_initial_state(inputs)
        _, state = cell(inputs, state)
        return cell(inputs, state)[0]

    with ed.hold(cell, weights):
        together = two_steps(inputs)
        assert cell.get_initial_state(batch_size=BATCH)[0].shape[-2:] == [BATCH, UNITS]
    assert together.shape == [3, BATCH, UNITS]
    for draw in range(3):
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


@pytest.mark.parametrize(
    ("cell_class", "loop", "inside"),
    [
        *((cell_class, by_rnn, True) for cell_class in ESTIMATORS),
        (ed.layers.LSTMCellFlipout, by_while_loop, False),
    ],
)
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
