import numpy as np
import pytest
import tensorflow as tf

import bayes_rl as ed

UNITS, FEATURES = 2, 3
INPUTS = tf.random.stateless_normal([6, FEATURES], [0, 1])
VECTORS = ("alpha", "gamma", "recurrent_alpha", "recurrent_gamma")


def make(**kwargs):
    """A cell whose outputs are sums of products, with means of 1 and wide posteriors."""
    posterior = ed.initializers.TrainableNormal(
        mean_initializer="ones", stddev_initializer="zeros"
    )
    vectors = {f"{key}_initializer": posterior for key in VECTORS}
    cell = ed.layers.LSTMCellRank1(
        UNITS,
        activation="linear",
        recurrent_activation=tf.ones_like,
        unit_forget_bias=False,
        **{**vectors, **kwargs},
    )
    cell.build([None, FEATURES])
    return cell


def moments(cell, key, part=slice(None)):
    posterior = ed.posteriors(cell)[f"{cell.name}/{key}"]
    mean, stddev = posterior.mean().numpy(), posterior.stddev().numpy()
    return mean[0, part], stddev[0, part] ** 2


@pytest.mark.parametrize("additive", [False, True])
def test_mean_and_variance_are_those_of_the_vectors(additive):
    cell = make(use_additive_perturbation=additive)
    part = slice(2 * UNITS, 3 * UNITS)
    inputs, state = INPUTS[:2].numpy(), np.array([[0.5, -1.0], [2.0, 1.0]], np.float32)
    count = 20_000  # examples, each with vectors of its own
    states = [np.repeat(state, count, axis=0), tf.zeros([2 * count, UNITS])]
    outputs, _ = cell(np.repeat(inputs, count, axis=0), states)
    outputs = outputs.numpy().reshape([2, count, UNITS])
    expected, variance = 0.0, 0.0
    for prefix, tensor in (("", inputs), ("recurrent_", state)):
        kernel = getattr(cell, f"{prefix}kernel").numpy()[:, part]
        mean, spread = moments(cell, f"{prefix}alpha")
        after_mean, after_spread = moments(cell, f"{prefix}gamma", part)
        if additive:
            expected += (tensor + mean) @ kernel + after_mean
            variance += spread @ kernel**2 + after_spread
        else:
            product = (tensor * mean) @ kernel
            product_spread = (tensor**2 * spread) @ kernel**2
            expected += product * after_mean
            second = (product**2 + product_spread) * (after_mean**2 + after_spread)
            variance += second - (product * after_mean) ** 2
    assert np.all(abs(outputs.mean(1) - expected) < 5 * np.sqrt(variance / count))
    np.testing.assert_allclose(outputs.var(1) / variance, 1.0, atol=0.1)
    np.testing.assert_allclose((outputs.var(1) / variance).mean(), 1.0, atol=0.03)


def test_equal_examples_have_their_own_vectors():
    cell = make()
    outputs, _ = cell(tf.ones([4, FEATURES]), [tf.zeros([4, UNITS])] * 2)
    assert len(np.unique(outputs[:, 0])) == 4


def test_members_have_blocks_of_the_batch():
    cell = make(ensemble_size=2, bias_initializer="random_normal")
    weights = ed.sample_weights(cell, seed=1)
    with ed.hold(cell, weights):
        outputs, _ = cell(INPUTS, [tf.zeros([6, UNITS])] * 2)
    part = slice(2 * UNITS, 3 * UNITS)
    alpha, gamma = (weights[f"{cell.name}/{key}"].numpy() for key in ("alpha", "gamma"))
    for example in range(6):
        member = example // 3
        product = (INPUTS[example] * alpha[member]).numpy() @ cell.kernel.numpy()[:, part]
        expected = product * gamma[member, part] + cell.bias[member, part]
        np.testing.assert_allclose(outputs[example], expected, rtol=1e-4, atol=1e-6)


def test_equals_keras_where_the_vectors_are_ones():
    cell = ed.layers.LSTMCellRank1(
        UNITS, **{f"{key}_initializer": "ones" for key in VECTORS}
    )
    rnn = tf.keras.layers.RNN(cell)
    inputs = tf.random.stateless_normal([5, 4, FEATURES], [0, 1])
    outputs = rnn(inputs)
    reference = tf.keras.layers.LSTMCell(UNITS)
    reference.build([None, FEATURES])
    reference.set_weights([cell.kernel, cell.recurrent_kernel, cell.bias[0]])
    expected = tf.keras.layers.RNN(reference)(inputs)
    np.testing.assert_allclose(outputs, expected, rtol=1e-5, atol=1e-6)


def test_wrong_sizes_are_errors():
    with pytest.raises(ValueError, match="ensemble_size must be at least 1, got 0"):
        ed.layers.LSTMCellRank1(UNITS, ensemble_size=0)
    cell = make(ensemble_size=4)
    with pytest.raises(ValueError, match="multiple of ensemble_size 4, got 6"):
        cell(INPUTS, [tf.zeros([6, UNITS])] * 2)
