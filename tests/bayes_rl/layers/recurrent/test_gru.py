import itertools

import numpy as np
import pytest
import tensorflow as tf

import bayes_rl as ed

CELLS = [ed.layers.GRUCellReparameterization, ed.layers.GRUCellFlipout]
INPUTS = tf.random.stateless_normal([5, 4, 3], [0, 1])


def make(cell_class, **kwargs):
    wide = ed.initializers.TrainableNormal(
        mean_initializer="random_normal", stddev_initializer="zeros"
    )
    kwargs = {"kernel_initializer": wide, "recurrent_initializer": wide, **kwargs}
    cell = cell_class(2, **kwargs)
    cell.build([None, 3])
    return cell


def means(cell):
    """Weights of the Keras cell: kernel, recurrent kernel and, where it has one, bias."""
    weights = ed.mean_weights(cell)
    keys = ("kernel", "recurrent_kernel", "bias")[: 3 if cell.use_bias else 2]
    return [weights.get(f"{cell.name}/{key}", getattr(cell, key)).numpy() for key in keys]


@pytest.mark.parametrize(
    ("cell_class", "use_bias", "reset_after"),
    list(itertools.product(CELLS, [True, False], [True, False])),
)
def test_equals_keras_at_the_mean(cell_class, use_bias, reset_after):
    options = {
        "use_bias": use_bias,
        "reset_after": reset_after,
        "bias_initializer": "random_normal",
    }
    cell, reference = make(cell_class, **options), tf.keras.layers.GRUCell(2, **options)
    rnn, keras_rnn = (
        tf.keras.layers.RNN(c, return_sequences=True, return_state=True)
        for c in (cell, reference)
    )
    keras_rnn(INPUTS)
    reference.set_weights(means(cell))
    with ed.hold(cell, ed.mean_weights(cell)):
        ours = rnn(INPUTS)
    for one, other in zip(ours, keras_rnn(INPUTS), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("reset_after", [True, False])
def test_held_signs_give_each_example_its_own_kernels(reset_after):
    cell = make(ed.layers.GRUCellFlipout, reset_after=reset_after, use_bias=False)
    weights = ed.sample_weights(cell, seed=3, batch_size=5)
    with ed.hold(cell, weights):
        _, state = cell(INPUTS[:, 0], cell.get_initial_state(INPUTS))
        outputs, _ = cell(INPUTS[:, 1], state)
    plain = tf.keras.layers.GRUCell(2, use_bias=False, reset_after=reset_after)
    plain.build([None, 3])
    for example in range(5):
        own = []
        for key, mean in zip(("kernel", "recurrent_kernel"), means(cell), strict=True):
            name = f"{cell.name}/{key}"
            before, after = (
                weights[f"{name}/sign_{side}"][example] for side in ("input", "output")
            )
            own.append(mean + np.outer(before, after) * (weights[name] - mean))
        plain.set_weights(own)
        one = INPUTS[example : example + 1]
        _, state = plain(one[:, 0], tf.zeros([1, 2]))
        expected, _ = plain(one[:, 1], state)
        np.testing.assert_allclose(outputs[example], expected[0], atol=1e-5)


@pytest.mark.parametrize("reset_after", [True, False])
@pytest.mark.parametrize("cell_class", CELLS)
def test_bias_may_be_stochastic_and_held_in_many_draws(cell_class, reset_after):
    cell = make(cell_class, reset_after=reset_after, bias_initializer="trainable_normal")
    weights = ed.sample_weights(cell, [3], seed=1, batch_size=5)
    with ed.hold(cell, weights):
        together, _ = cell(INPUTS[:, 0], tf.ones([3, 5, 2]))
    for draw in range(3):
        with ed.hold(cell, {name: value[draw] for name, value in weights.items()}):
            alone, _ = cell(INPUTS[:, 0], tf.ones([5, 2]))
        np.testing.assert_allclose(together[draw], alone, atol=1e-5)


def test_state_comes_back_in_the_structure_it_had():
    cell = make(CELLS[0])
    assert isinstance(cell(INPUTS[:, 0], [tf.zeros([5, 2])])[1], list)
    assert tf.is_tensor(cell(INPUTS[:, 0], tf.zeros([5, 2]))[1])


def test_costs_are_those_of_both_kernels_once():
    cell = make(CELLS[1], name="cell")
    rnn = tf.keras.layers.RNN(cell)
    for _ in range(2):
        rnn(INPUTS)
    assert sorted(ed.kl_divergences(cell)) == ["cell/kernel", "cell/recurrent_kernel"]
    assert len(cell.losses) == 2
