"""Ten regressions of tables: each takes training data to a function that predicts.

A predictor takes inputs [N, features] to means and stddevs [S, N] of a mixture of S normal
distributions of the outcome. All but SNGP have the same net: one hidden layer of 50 ReLU,
and a stddev of the noise that is learned. Two have the defaults of their layers: `dense`
and `dense_flipout`.

Sources: Hernandez-Lobato and Adams, 2015, Probabilistic Backpropagation, section 5, for the
net; those of the methods stand with their layers, or in `bayes_rl.inference`.
"""

import dataclasses
import math

import numpy as np
import tensorflow as tf

import bayes_rl as ed
from examples.methods import posteriors
from examples.methods.regression_methods import Moments, nats, prediction

keras = tf.keras.layers


@dataclasses.dataclass(frozen=True)
class Sizes:
    """What `--small` makes small; what `SETTINGS` tries is chosen anew for all data."""

    train: int = 200  # of generated rows, at most; of diabetes four fifths
    generated: int = 1400
    hidden: int = 50
    steps: int = 2000  # of training
    batch: int = 32
    rate: float = 0.01  # of Adam at first
    draws: int = 100
    members: int = 5
    decay: float = 0.1  # L2 of kernels without a posterior
    dropout: float = 0.1
    dropout_decay: float = 0.01
    features: int = 128  # of SNGP's Gaussian process
    kernel_scale: float = 100.0  # of all hidden units together, squared
    spectral_norm: float = 2.0
    ridge: float = 0.1  # of its covariance, the variance of the noise
    sngp_decay: float = 1e-3
    first_variance: float = 0.01  # of a weight of Flipout at first, times the inputs
    prior_variance: float = 4.0  # of a weight of Flipout, times the layer's inputs
    swag_rate: float = 3e-3
    swag_epochs: int = 50
    swag_rank: int = 20
    ivon_rate: float = 0.3
    ivon_hessian: float = 1.0  # at first
    ivon_memory: float = 0.999  # beta_2
    ivon_decay: float = 1e-2  # delta


SMALL = Sizes(20, 60, 4, 4, 10, draws=3, members=2, features=4)
SMALL = dataclasses.replace(SMALL, swag_epochs=2, swag_rank=2)


def _each(name, *values):
    return [{name: value} for value in values]


_DECAYS = _each("decay", 0.01, 0.03, 0.1, 0.3)
SETTINGS = {  # of which each method has the best for the rows that it learns
    "deterministic": _DECAYS,
    "deep_ensemble": _DECAYS,
    "dropout": [
        {"dropout": rate, "dropout_decay": decay}
        for rate, decay in ((0.05, 0.03), (0.1, 0.03), (0.1, 0.01), (0.2, 0.003))
    ],
    "sngp": _each("sngp_decay", 1e-3, 3e-3, 1e-2, 3e-2),
    "flipout": _each("prior_variance", 0.25, 1.0, 4.0, 16.0),
    "laplace": _DECAYS,
    "swag": _each("swag_rate", 3e-4, 1e-3, 3e-3, 1e-2),
    "ivon": _each("ivon_decay", 3e-3, 1e-2, 3e-2, 0.1),
}


def choose(method, inputs, targets, sizes, seed):
    """Sizes with the best of a method's settings, by the likelihood of a fifth of the rows.

    They are not learned meanwhile. A deep ensemble has the setting of its members. Methods
    without settings take the defaults.
    """
    if method not in SETTINGS:
        return sizes
    kept = len(inputs) // 5
    learn = METHODS["deterministic" if method == "deep_ensemble" else method]

    def surprise(setting):
        own = dataclasses.replace(sizes, **setting)
        try:
            predict = learn(inputs[kept:], targets[kept:], own, seed)
        except ValueError:  # SWAG's rate was too large
            return math.inf
        mixture = ed.Normal(*map(tf.constant, predict(inputs[:kept])))
        found = float(tf.reduce_mean(ed.uncertainty.log_score(mixture, targets[:kept])))
        return found if math.isfinite(found) else math.inf

    return dataclasses.replace(sizes, **min(SETTINGS[method], key=surprise))


def make_net(features, sizes, dense=keras.Dense, rate=0.0, options=({}, {})):
    """A net from inputs [N, features] to moments [N, 3]; its last layer but one has means.

    Args:
        features: number of inputs.
        sizes: of layers.
        dense: class of layers.
        rate: of dropout after the hidden layer.
        options: of the two layers.
    """
    return tf.keras.Sequential(
        [
            keras.Input([features]),
            dense(sizes.hidden, activation="relu", **options[0]),
            *([keras.Dropout(rate)] if rate else []),
            dense(1, **options[1]),
            Moments(),
        ]
    )


def fit(model, inputs, targets, sizes, optimizer=None, callbacks=()):
    """Trains by Adam, whose rate falls to 0 as a cosine, or by another optimizer."""
    _compiled(model, inputs, sizes, optimizer)
    options = _fitting(inputs, sizes)
    model.fit(inputs, targets[:, None], callbacks=list(callbacks), **options)
    return model


def _compiled(model, inputs, sizes, optimizer=None):
    optimizer = optimizer or tf.keras.optimizers.Adam(_falling(sizes.rate, sizes))
    steps = -(-len(inputs) // sizes.batch)
    model.compile(optimizer, nats, steps_per_execution=steps)
    return model


def _fitting(inputs, sizes):
    """Arguments of `fit`."""
    epochs = max(1, round(sizes.steps / -(-len(inputs) // sizes.batch)))
    return {"epochs": epochs, "batch_size": sizes.batch, "verbose": 0}


def _falling(rate, sizes):
    return tf.keras.optimizers.schedules.CosineDecay(rate, sizes.steps)


def _plain_net(features, sizes, rate=0.0):
    decay = {"kernel_regularizer": tf.keras.regularizers.L2(sizes.decay)}
    options = {"kernel_initializer": "he_normal"} | decay
    return make_net(features, sizes, rate=rate, options=(options, decay))


def _plain(inputs, targets, sizes, rate=0.0):
    return fit(_plain_net(inputs.shape[1], sizes, rate), inputs, targets, sizes)


def deterministic(inputs, targets, sizes, seed):
    model = _plain(inputs, targets, sizes)
    return lambda x: prediction(model(x)[tf.newaxis])


def dense(inputs, targets, sizes, seed):
    model = fit(make_net(inputs.shape[1], sizes), inputs, targets, sizes)
    return lambda x: prediction(model(x)[tf.newaxis])


def dense_flipout(inputs, targets, sizes, seed):
    model = make_net(inputs.shape[1], sizes, ed.layers.DenseFlipout)
    ed.scale_kl(model, 1 / len(inputs))
    return _by_draws(fit(model, inputs, targets, sizes), sizes, seed)


def deep_ensemble(inputs, targets, sizes, seed):
    def make():
        return _compiled(_plain_net(inputs.shape[1], sizes), inputs, sizes)

    options = _fitting(inputs, sizes)
    data = inputs, targets[:, None]
    posterior = ed.inference.ensemble(make, sizes.members, *data, **options)
    return lambda x: prediction(posterior.predict(x, batch_size=len(x), verbose=0))


def dropout(inputs, targets, sizes, seed):
    sizes = dataclasses.replace(sizes, decay=sizes.dropout_decay)
    model = _plain(inputs, targets, sizes, sizes.dropout)
    draws = range(sizes.draws)
    return lambda x: prediction(np.stack([model(x, training=True) for _ in draws]))


def flipout(inputs, targets, sizes, seed):
    start = ed.initializers.ScaledNormalStdDev(sizes.first_variance)
    posterior = ed.initializers.TrainableNormal("he_normal", start)
    options = [
        {
            "kernel_initializer": posterior,
            "kernel_regularizer": ed.regularizers.NormalKLDivergence(
                stddev=(sizes.prior_variance / fan) ** 0.5
            ),
        }
        for fan in (inputs.shape[1], sizes.hidden)
    ]
    dense = ed.layers.DenseFlipout
    model = make_net(inputs.shape[1], sizes, dense, options=options)
    # At once the KL would keep means from finding the data.
    grow = tf.keras.optimizers.schedules.PolynomialDecay
    schedule = grow(0.0, sizes.steps // 2, 1 / len(inputs))
    fit(model, inputs, targets, sizes, callbacks=[ed.AnnealKL(schedule)])
    return _by_draws(model, sizes, seed)


def _by_draws(model, sizes, seed):
    return lambda x: prediction(ed.predict(model, x, sizes.draws, seed, len(x), verbose=0))


def sngp(inputs, targets, sizes, seed):
    rows = tf.keras.Input(inputs.shape[1:])
    decay = tf.keras.regularizers.L2(sizes.sngp_decay)
    hidden = keras.Dense(sizes.hidden, trainable=False)(rows)
    dense = keras.Dense(sizes.hidden, activation="relu", kernel_regularizer=decay)
    bounded = ed.layers.SpectralNormalization(dense, norm_multiplier=sizes.spectral_norm)
    hidden += bounded(hidden)
    process = ed.layers.RandomFeatureGaussianProcess(
        1,
        sizes.features,
        gp_kernel_scale=sizes.kernel_scale,
        normalize_input=False,
        gp_cov_momentum=0.0,
        gp_cov_ridge_penalty=sizes.ridge,
        l2_regularization=sizes.sngp_decay,
    )
    means, covariance = process(hidden)
    model = tf.keras.Model(rows, Moments()(means))
    forget = tf.keras.callbacks.LambdaCallback(
        on_epoch_begin=lambda epoch, logs: process.reset_covariance_matrix()
    )
    fit(model, inputs, targets, sizes, callbacks=[forget])
    both = tf.keras.Model(rows, [model.output, covariance])

    def predict(x):
        moments, covariance = both(x, training=False)
        mean, _, log_stddev = tf.unstack(moments, axis=-1)
        variance = tf.linalg.diag_part(covariance)
        return prediction(tf.stack([mean, variance, log_stddev], axis=-1)[tf.newaxis])

    return predict


def laplace(inputs, targets, sizes, seed):
    model = _plain(inputs, targets, sizes)
    means = tf.keras.Model(model.inputs, model.layers[-2].output)
    data = inputs, targets[:, None]
    posterior = ed.inference.laplace(means, data, "normal", subset="all")

    def predict(x):
        draws = posterior.predict(x, sizes.draws, seed, len(x), verbose=0)[..., 0]
        return np.asarray(draws), np.full(draws.shape, posterior.noise_stddev, np.float32)

    return predict


def swag(inputs, targets, sizes, seed):
    posterior = posteriors.swag(
        _plain(inputs, targets, sizes), (inputs, targets[:, None]), sizes, seed
    )
    return _by_posterior(posterior, sizes, seed)


def ivon(inputs, targets, sizes, seed):
    rate = _falling(sizes.ivon_rate, sizes)
    optimizer = posteriors.ivon(rate, len(inputs), sizes, seed)
    model = make_net(
        inputs.shape[1], sizes, options=({"kernel_initializer": "he_normal"}, {})
    )
    fit(model, inputs, targets, sizes, optimizer)
    return _by_posterior(ed.inference.posterior(model), sizes, seed)


def _by_posterior(posterior, sizes, seed):
    draws = posteriors.draws_of(posterior, sizes, seed)
    return lambda x: prediction(draws(x))


METHODS = {
    each.__name__: each
    for each in (
        *(deterministic, deep_ensemble, dropout, sngp, flipout),
        *(laplace, swag, ivon, dense, dense_flipout),
    )
}
