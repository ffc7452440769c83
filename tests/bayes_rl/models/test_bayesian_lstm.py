import math

import numpy as np
import tensorflow as tf

import bayes_rl as ed
from bayes_rl import layers
from tests.bayes_rl.training import train

BATCH, LENGTH, LABELS = 32, 5, 3
DATASET_SIZE = 20000


def load_dataset(batch_size):
    """Each label is the value at the step before: a network without state cannot know it.

    Returns:
        One-hot features and labels, [batch_size, LENGTH, LABELS].
    """
    values = tf.random.stateless_uniform(
        [batch_size, LENGTH + 1], [0, 1], 0, LABELS, tf.int32
    )
    one_hot = tf.one_hot(values, LABELS)
    return one_hot[:, 1:], one_hot[:, :-1]


BLIND = LENGTH * math.log(LABELS)


def test_figure_1_learns_what_needs_a_state():
    features, labels = load_dataset(BATCH)
    lstm = layers.VariationalLSTMCell(16)
    output_layer = tf.keras.layers.Dense(labels.shape[-1])

    def loss_fn():
        state = lstm.get_initial_state(features)
        nll = 0.0
        for t in range(features.shape[1]):
            net, state = lstm(features[:, t], state)
            logits = output_layer(net)
            # tf.losses.softmax_cross_entropy of TF1, a mean over the batch.
            nll += tf.reduce_mean(
                tf.nn.softmax_cross_entropy_with_logits(labels[:, t], logits)
            )
        # Over the training set, as on the poster; one batch is less.
        kl = sum(lstm.losses) / DATASET_SIZE
        return nll + kl

    losses = train(loss_fn, [lstm, output_layer], steps=40, learning_rate=0.03)
    assert losses.after < 0.6 * min(losses.before, BLIND)


def test_cells_of_both_papers_are_the_same():
    assert layers.VariationalLSTMCell is layers.LSTMCellReparameterization


def test_model_is_the_loop_of_figure_1():
    features, _ = load_dataset(2)
    model = ed.models.build_bayesian_lstm(LABELS, units=4)
    model(features)
    lstm, output_layer = model.layers[0].cell, model.layers[1]
    with ed.hold(model, ed.sample_weights(model, seed=1)):
        state, logits = lstm.get_initial_state(features), []
        for t in range(LENGTH):
            net, state = lstm(features[:, t], state)
            logits.append(output_layer(net))
        np.testing.assert_allclose(model(features), tf.stack(logits, 1), atol=1e-6)


def test_figure_13_learns_without_layers():
    features, labels = load_dataset(BATCH)
    labels = tf.argmax(labels, axis=-1)
    num_features, units = features.shape[-1], 16
    model, output_layer = build_model(num_features, units)
    variational, variables = build_variational(num_features, units)

    def loss_fn():
        qwx, qwh, qbias = variational()
        with ed.tape() as tape, ed.condition(wx=qwx, wh=qwh, bias=qbias):
            predictions = model(features)

        nll = -tf.reduce_mean(predictions.distribution.log_prob(tf.transpose(labels)))
        # Summed: divergences of weights of different shapes do not add up.
        kl = sum(
            tf.reduce_sum(q.distribution.kl_divergence(tape[name].distribution))
            for q, name in ((qwx, "wx"), (qwh, "wh"), (qbias, "bias"))
        )
        kl /= DATASET_SIZE
        return nll + kl

    losses = train(loss_fn, [output_layer, *variables], steps=40, learning_rate=0.03)
    assert losses.after < 0.85 * min(losses.before, math.log(LABELS))


def build_model(num_features, units):
    output_layer = tf.keras.layers.Dense(LABELS)

    def model(features):
        wx = ed.Normal(loc=tf.zeros([num_features, 4 * units]), scale=1.0, name="wx")
        wh = ed.Normal(loc=tf.zeros([units, 4 * units]), scale=1.0, name="wh")
        bias = ed.Normal(loc=tf.zeros([4 * units]), scale=1.0, name="bias")
        # The figure reads `net` before its first value, and names `output` what is `o`.
        state = net = tf.zeros([len(features), units])
        logits = []
        for t in range(features.shape[1]):
            z = tf.matmul(features[:, t], wx) + tf.matmul(net, wh) + bias
            i, f, o, u = tf.split(z, 4, axis=-1)
            i = tf.sigmoid(i)
            f = tf.sigmoid(f + 1.0)
            o = tf.sigmoid(o)
            u = tf.tanh(u)
            state = f * state + i * u
            net = o * tf.tanh(state)
            logits.append(output_layer(net))
        return ed.Categorical(logits=logits)

    return model, output_layer


def build_variational(num_features, units):
    shapes = [num_features, 4 * units], [units, 4 * units], [4 * units]
    # Smaller than the figure's standard normal numbers, at which units saturate.
    locs = [tf.Variable(0.1 * tf.random.normal(shape)) for shape in shapes]
    log_scales = [tf.Variable(tf.random.normal(shape) - 3.0) for shape in shapes]

    def variational():
        return [
            ed.Normal(loc=loc, scale=tf.exp(log_scale), name=name)
            for loc, log_scale, name in zip(
                locs, log_scales, ["qwx", "qwh", "qbias"], strict=True
            )
        ]

    return variational, [*locs, *log_scales]
