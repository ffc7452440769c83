import itertools

import numpy as np
import pytest
import tensorflow as tf

import bayes_rl as ed

CELLS = [ed.layers.LSTMCellReparameterization, ed.layers.LSTMCellFlipout]
INPUTS = tf.random.stateless_normal([5, 4, 3], [0, 1])


def means(cell):
    """Weights of the Keras cell: kernel, recurrent kernel and, where it has one, bias."""
    weights = ed.mean_weights(cell)
    keys = ("kernel", "recurrent_kernel", "bias")[: 3 if cell.use_bias else 2]
    return [weights.get(f"{cell.name}/{key}", getattr(cell, key)).numpy() for key in keys]


@pytest.mark.parametrize(
    ("cell_class", "use_bias", "activation"),
    list(itertools.product(CELLS, [True, False], ["tanh", "relu"])),
)
def test_equals_keras_at_the_mean(cell_class, use_bias, activation):
    wide = ed.initializers.TrainableNormal(mean_initializer="random_normal")
    cell = cell_class(
        2,
        activation=activation,
        use_bias=use_bias,
        kernel_initializer=wide,
        recurrent_initializer=wide,
    )
    reference = tf.keras.layers.LSTMCell(2, activation=activation, use_bias=use_bias)
    rnn, keras_rnn = (
        tf.keras.layers.RNN(c, return_sequences=True, return_state=True)
        for c in (cell, reference)
    )
    rnn(INPUTS)
    keras_rnn(INPUTS)
    reference.set_weights(means(cell))
    with ed.hold(cell, ed.mean_weights(cell)):
        ours = rnn(INPUTS)
    for one, other in zip(ours, keras_rnn(INPUTS), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("initializer", ["zeros", "trainable_normal"])
def test_forget_gate_begins_with_a_bias_of_1(initializer):
    cell = ed.layers.LSTMCellFlipout(2, bias_initializer=initializer)
    cell.build([None, 3])
    bias = means(cell)[2]
    np.testing.assert_allclose(bias, [0, 0, 1, 1, 0, 0, 0, 0], atol=1e-4)
    assert cell.get_config()["unit_forget_bias"] is True


def test_costs_are_those_of_both_kernels_once():
    cell = ed.layers.LSTMCellReparameterization(2, name="cell")
    rnn = tf.keras.layers.RNN(cell)
    for _ in range(2):
        rnn(INPUTS)
    assert sorted(ed.kl_divergences(cell)) == ["cell/kernel", "cell/recurrent_kernel"]
    assert len(cell.losses) == len(rnn.losses) == 2


def test_held_signs_give_the_flipout_formula():
    wide = ed.initializers.TrainableNormal(stddev_initializer="zeros")
    cell = ed.layers.LSTMCellFlipout(
        2,
        activation="linear",
        recurrent_activation=tf.ones_like,
        kernel_initializer=wide,
        recurrent_initializer=wide,
        name="cell",
    )
    cell.build([None, 3])
    weights = ed.sample_weights(cell, seed=3, batch_size=5)
    inputs, state = INPUTS[:, 0].numpy(), INPUTS[:, 1, :2].numpy()
    with ed.hold(cell, weights):
        outputs, _ = cell(inputs, [state, tf.zeros([5, 2])])
    draws = {name.removeprefix("cell/"): value.numpy() for name, value in weights.items()}
    kernel_mean, recurrent_mean, _ = means(cell)

    def own_kernel(key, mean, example):
        signs = np.outer(
            draws[f"{key}/sign_input"][example], draws[f"{key}/sign_output"][example]
        )
        return mean + signs * (draws[key] - mean)

    for example in range(5):
        kernel = own_kernel("kernel", kernel_mean, example)
        recurrent_kernel = own_kernel("recurrent_kernel", recurrent_mean, example)
        sums = inputs[example] @ kernel + state[example] @ recurrent_kernel
        np.testing.assert_allclose(outputs[example], sums[4:6], atol=1e-5)


@pytest.mark.parametrize("deterministic", ["kernel", "recurrent"])
def test_flipout_leaves_a_deterministic_kernel_alone(deterministic):
    initializers = {f"{deterministic}_initializer": "glorot_uniform"}
    cell = ed.layers.LSTMCellFlipout(2, **initializers)
    rnn = tf.keras.layers.RNN(cell)
    assert np.all(rnn(INPUTS) != rnn(INPUTS))
    assert len(cell.sign_sizes()) == 2
    weights = ed.sample_weights(cell, seed=1, batch_size=5)
    with ed.hold(cell, weights):
        np.testing.assert_array_equal(rnn(INPUTS), rnn(INPUTS))


def test_units_below_one_is_an_error():
    with pytest.raises(ValueError, match="`units`, expected a positive integer, got 0"):
        ed.layers.LSTMCellFlipout(0)
