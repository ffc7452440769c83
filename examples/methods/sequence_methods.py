"""Eight ways to learn sequences: each takes training data to logits under draws.

A method takes inputs [N, T, symbols] and labels [N, T], padded, to a function of inputs to
logits [S, N, T, symbols].

Sources: Fortunato et al., 2017, Bayesian Recurrent Neural Networks; Gal and Ghahramani,
2016, A Theoretically Grounded Application of Dropout in Recurrent Neural Networks; those of
the other methods stand with their layers, or in `bayes_rl.inference`.
"""

import dataclasses
import functools

import numpy as np
import tensorflow as tf

import bayes_rl as ed
from examples.methods import posteriors

PADDING = -1


@dataclasses.dataclass(frozen=True)
class Sizes:
    """What `--small` makes small, and what was chosen."""

    train: int = 50
    tests: int = 100
    longest: int = 14  # string of training and of the first test
    long: int = 24  # longest of the second test
    units: int = 32
    epochs: int = 150
    batch: int = 25
    rate: float = 0.01
    draws: int = 50
    members: int = 5
    first_variance: float = 0.01  # of a weight at first, times the layer's inputs
    prior_stddev: float = 0.5
    dropout: float = 0.05  # of inputs and of states, the same for all steps
    dropout_prior_stddev: float = 1.0
    laplace_prior_stddev: float = 0.7  # of the training before it
    swag_rate: float = 0.02
    swag_epochs: int = 50
    swag_rank: int = 20
    ivon_rate: float = 0.3
    ivon_hessian: float = 1.0  # at first
    ivon_memory: float = 0.999  # beta_2
    ivon_decay: float = 3e-3  # delta


SMALL = Sizes(10, 5, units=3, epochs=2, batch=5, draws=2, members=2, swag_epochs=2)
SMALL = dataclasses.replace(SMALL, swag_rank=2)


def nats(labels, logits):
    """Negative log likelihood of each string [N], the sum over its symbols."""
    labels = tf.cast(labels, tf.int32)
    each = tf.nn.sparse_softmax_cross_entropy_with_logits(tf.maximum(labels, 0), logits)
    return tf.reduce_sum(tf.where(labels == PADDING, 0.0, each), axis=1)


def fit(model, train, sizes, *options):
    """As `posteriors.fit`, of strings and what follows each symbol."""
    return posteriors.fit(model, *train, nats, sizes, *options)


def _make(train, sizes, cell):
    model = ed.models.build_bayesian_lstm(train[0].shape[-1], sizes.units, cell)
    model(train[0][:1])
    return model


def _plain(train, sizes, **options):
    """The most probable weights under the prior of the posteriors of the layers."""
    cost = tf.keras.regularizers.L2(0.5 / (len(train[0]) * sizes.prior_stddev**2))
    options |= {"kernel_regularizer": cost, "recurrent_regularizer": cost}
    cell = functools.partial(tf.keras.layers.LSTMCell, **options)
    return fit(_make(train, sizes, cell), train, sizes)


def deterministic(train, sizes, seed):
    model = _plain(train, sizes)
    return lambda inputs: model(inputs)[tf.newaxis]


def deep_ensemble(train, sizes, seed):
    models = [_plain(train, sizes) for _ in range(sizes.members)]
    return lambda inputs: tf.stack([model(inputs) for model in models])


def dropout(train, sizes, seed):
    sizes = dataclasses.replace(sizes, prior_stddev=sizes.dropout_prior_stddev)
    options = {"dropout": sizes.dropout, "recurrent_dropout": sizes.dropout}
    model = _plain(train, sizes, **options)
    draws = range(sizes.draws)
    return lambda inputs: tf.stack([model(inputs, training=True) for _ in draws])


def _variational(train, sizes, seed, cell):
    posterior = ed.initializers.TrainableNormal(
        "glorot_uniform", ed.initializers.ScaledNormalStdDev(sizes.first_variance)
    )
    cost = ed.regularizers.NormalKLDivergence(stddev=sizes.prior_stddev)
    own = {"kernel_initializer": posterior, "recurrent_initializer": posterior}
    own |= {"kernel_regularizer": cost, "recurrent_regularizer": cost}
    model = _make(train, sizes, functools.partial(cell, **own))
    ed.scale_kl(model, 1 / len(train[0]))
    fit(model, train, sizes)
    options = {"draws": sizes.draws, "seed": seed, "verbose": 0}
    return lambda inputs: ed.predict(model, inputs, batch_size=len(inputs), **options)


def reparameterization(train, sizes, seed):
    return _variational(train, sizes, seed, ed.layers.LSTMCellReparameterization)


def flipout(train, sizes, seed):
    return _variational(train, sizes, seed, ed.layers.LSTMCellFlipout)


def laplace(train, sizes, seed):
    """Of the last layer, on the states of all steps that have a label."""
    sizes = dataclasses.replace(sizes, prior_stddev=sizes.laplace_prior_stddev)
    *_, recurrent, last = _plain(train, sizes).layers
    head = tf.keras.Sequential([tf.keras.Input([sizes.units]), last])
    is_step = train[1] != PADDING
    data = recurrent(train[0]).numpy()[is_step], train[1][is_step]
    posterior = ed.inference.laplace(head, data, "categorical")

    def logits(inputs):
        states = recurrent(inputs).numpy()
        flat = states.reshape([-1, sizes.units])
        found = posterior.predict(flat, sizes.draws, seed, len(flat), verbose=0)
        return np.reshape(found, [sizes.draws, *inputs.shape])

    return logits


def swag(train, sizes, seed):
    posterior = posteriors.swag(_plain(train, sizes), train, sizes, seed)
    return posteriors.draws_of(posterior, sizes, seed)


def ivon(train, sizes, seed):
    def make_optimizer(rate):
        return posteriors.ivon(rate, len(train[0]), sizes, seed)

    model = _make(train, sizes, tf.keras.layers.LSTMCell)
    fit(model, train, sizes, sizes.ivon_rate, make_optimizer)
    return posteriors.draws_of(ed.inference.posterior(model), sizes, seed)


METHODS = {
    each.__name__: each
    for each in (
        *(deterministic, deep_ensemble, dropout, reparameterization, flipout),
        *(laplace, swag, ivon),
    )
}
