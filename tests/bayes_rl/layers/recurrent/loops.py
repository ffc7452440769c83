"""Recurrent cells whose draws can be seen, and the loops that they run in."""

import numpy as np
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
