"""13 ways to learn digits: each takes training data to probabilities under draws.

Sources: Lakshminarayanan et al., 2017, Simple and Scalable Predictive Uncertainty
Estimation using Deep Ensembles; Gal and Ghahramani, 2016, Dropout as a Bayesian
Approximation; those of the other methods stand with their layers, or in
`bayes_rl.inference`.
"""

import dataclasses

import numpy as np
import tensorflow as tf

import bayes_rl as ed
from examples.methods import posteriors

CLASSES = 10
keras = tf.keras.layers


@dataclasses.dataclass(frozen=True)
class Sizes:
    """What `--small` makes small, and what was tuned."""

    train: int = 1000
    tests: int = 500
    filters: int = 16
    hidden: int = 64
    epochs: int = 60
    batch: int = 50
    draws: int = 50
    rate: float = 1e-2  # of Adam at first
    plain_rate: float = 2e-2  # of Adam for ordinary layers alone
    decay: float = 1e-3  # L2 of kernels without a posterior
    members: int = 5
    dropout: float = 0.3
    first_variance: float = 0.01  # of a weight at first, times the layer's inputs
    prior_stddev: float = 1.0
    log_uniform_kl_scale: float = 0.03  # of variational dropout
    posterior_rate: float = 3e-3  # of Adam for posteriors
    kl_scale: float = 0.3  # below 1: a cold posterior
    delta: float = 0.2  # of MOPED: stddev of a weight by its mean
    spread: float = 0.3  # of the means of rank-1 vectors at first
    rank1_stddev: float = 0.1  # of their prior, and of the posterior at first
    features: int = 256  # of SNGP's Gaussian process
    spectral_norm: float = 2.0
    variance_factor: float = 0.39  # pi / 8: of SNGP's mean of probabilities
    swag_rate: float = 0.15  # of gradient descent around the plain net
    swag_epochs: int = 30
    swag_rank: int = 20
    ivon_rate: float = 0.3
    ivon_hessian: float = 0.5  # at first
    ivon_memory: float = 0.9995  # beta_2
    ivon_decay: float = 3e-3  # delta
    ivon_scale: float = 3.0  # above 1: a cold posterior


SMALL = Sizes(60, 40, 2, 4, 2, 30, 2, members=2, features=8, swag_epochs=2, swag_rank=2)


def make_net(
    sizes, convolution=keras.Conv2D, dense=keras.Dense, members=1, rate=0.0, **options
):
    """A net from images [B, 8, 8, 1] to logits [B, members, 10].

    Args:
        sizes: of layers.
        convolution: class of layers.
        dense: class of layers.
        members: for layers that take the examples of each member after those of the last.
        rate: of dropout before dense layers.
        **options: of all layers with kernels.
    """
    drop = [keras.Dropout(rate)] if rate else []
    return tf.keras.Sequential(
        [
            keras.Lambda(lambda x: tf.tile(x, [members, 1, 1, 1]), input_shape=[8, 8, 1]),
            convolution(sizes.filters, 3, padding="same", activation="relu", **options),
            convolution(2 * sizes.filters, 3, strides=2, activation="relu", **options),
            keras.Flatten(),
            *drop,
            dense(sizes.hidden, activation="relu", **options),
            *drop,
            dense(CLASSES, **options),
            keras.Lambda(lambda x: split_members(x, members)),
        ]
    )


def split_members(logits, members):
    """[members * B, classes] -> [B, members, classes]."""
    return tf.transpose(tf.reshape(logits, [members, -1, CLASSES]), [1, 0, 2])


def nats(labels, logits):
    """Negative log likelihood of labels [B, 1] under each of logits [B, members, 10]."""
    labels = tf.broadcast_to(tf.cast(labels, tf.int32), tf.shape(logits)[:2])
    return tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)


def fit(model, train, sizes, rate=None, **options):
    """As `posteriors.fit`, of images and labels."""
    return posteriors.fit(model, train[0], train[1][:, None], nats, sizes, rate, **options)


def _plain(train, sizes, **options):
    decay = tf.keras.regularizers.L2(sizes.decay)
    model = make_net(sizes, kernel_regularizer=decay, **options)
    return fit(model, train, sizes, sizes.plain_rate)


def _at_once(*models, **options):
    """Function of images to the probabilities of models [N, members, 10]."""
    return lambda images: np.concatenate(
        [tf.nn.softmax(model(images, **options)) for model in models], axis=1
    )


def _by_draws(model, sizes, seed):
    """Function of images to probabilities under draws of weights [N, S * members, 10]."""

    def probabilities(images):
        logits = ed.predict(model, images, sizes.draws, seed, len(images), verbose=0)
        return np.concatenate(tf.nn.softmax(logits), axis=1)

    return probabilities


def _by_posterior(posterior, sizes, seed):
    """As `_by_draws`, of a posterior of `ed.inference`."""
    logits_of = posteriors.draws_of(posterior, sizes, seed)
    return lambda images: np.concatenate(tf.nn.softmax(logits_of(images)), axis=1)


def deterministic(train, sizes, seed):
    return _at_once(_plain(train, sizes))


def deep_ensemble(train, sizes, seed):
    return _at_once(*(_plain(train, sizes) for _ in range(sizes.members)))


def dropout(train, sizes, seed):
    model = _plain(train, sizes, rate=sizes.dropout)
    return _at_once(*[model] * sizes.draws, training=True)


def _variational(train, sizes, seed, kind, cost):
    posterior = ed.initializers.TrainableNormal(
        "he_normal", ed.initializers.ScaledNormalStdDev(sizes.first_variance)
    )
    classes = (getattr(ed.layers, f"{name}{kind}") for name in ("Conv2D", "Dense"))
    options = {"kernel_initializer": posterior, "kernel_regularizer": cost}
    model = make_net(sizes, *classes, **options)
    model = _fit_scaled(model, train, sizes, sizes.posterior_rate)
    return _by_draws(model, sizes, seed)


def _fit_scaled(model, train, sizes, rate):
    """Trains with a KL that grows over the first half to its share of each example."""
    steps = sizes.epochs * -(-len(train[0]) // sizes.batch)
    whole = sizes.kl_scale / len(train[0])
    grow = tf.keras.optimizers.schedules.PolynomialDecay(0.0, steps // 2, whole)
    return fit(model, train, sizes, rate, callbacks=[ed.AnnealKL(grow)])


def reparameterization(train, sizes, seed):
    cost = ed.regularizers.NormalKLDivergence(stddev=sizes.prior_stddev)
    return _variational(train, sizes, seed, "Reparameterization", cost)


def flipout(train, sizes, seed):
    cost = ed.regularizers.NormalKLDivergence(stddev=sizes.prior_stddev)
    return _variational(train, sizes, seed, "Flipout", cost)


def variational_dropout(train, sizes, seed):
    sizes = dataclasses.replace(sizes, kl_scale=sizes.log_uniform_kl_scale)
    cost = ed.regularizers.LogUniformKLDivergence()
    return _variational(train, sizes, seed, "VariationalDropout", cost)


def rank1(train, sizes, seed):
    vectors = ed.initializers.TrainableNormal(
        tf.keras.initializers.RandomNormal(1.0, sizes.spread),
        tf.keras.initializers.Constant(np.log(np.expm1(sizes.rank1_stddev))),
    )
    cost = ed.regularizers.NormalKLDivergence(mean=1.0, stddev=sizes.rank1_stddev)
    options = {f"{name}_initializer": vectors for name in ("alpha", "gamma")}
    options |= {f"{name}_regularizer": cost for name in ("alpha", "gamma")}
    options |= {"kernel_regularizer": tf.keras.regularizers.L2(sizes.decay)}
    model = _members_net(sizes, "Rank1", **options)
    return _by_draws(_fit_scaled(model, train, sizes, sizes.rate), sizes, seed)


def batch_ensemble(train, sizes, seed):
    sign = ed.initializers.RandomSign(0.5)
    options = {f"{name}_initializer": sign for name in ("alpha", "gamma")}
    options |= {"kernel_regularizer": tf.keras.regularizers.L2(sizes.decay)}
    return _at_once(fit(_members_net(sizes, "BatchEnsemble", **options), train, sizes))


def _members_net(sizes, kind, **options):
    classes = (getattr(ed.layers, f"{name}{kind}") for name in ("Conv2D", "Dense"))
    options |= {"members": sizes.members, "ensemble_size": sizes.members}
    return make_net(sizes, *classes, **options)


def moped(train, sizes, seed):
    model = ed.to_bayesian(_plain(train, sizes), "flipout")
    ed.start_at_means(model, sizes.delta, sizes.prior_stddev)
    ed.scale_kl(model, sizes.kl_scale / len(train[0]))
    model = fit(model, train, sizes, sizes.posterior_rate)
    return _by_draws(model, sizes, seed)


def sngp(train, sizes, seed):
    images = tf.keras.Input([8, 8, 1])
    process = ed.layers.RandomFeatureGaussianProcess(
        CLASSES, sizes.features, gp_cov_momentum=0.0, gp_cov_ridge_penalty=1.0
    )
    logits, covariance = process(_bounded_features(images, sizes))
    logits = logits[:, tf.newaxis]
    forget = tf.keras.callbacks.LambdaCallback(
        on_epoch_begin=lambda epoch, logs: process.reset_covariance_matrix()
    )
    fit(tf.keras.Model(images, logits), train, sizes, callbacks=[forget])
    model = tf.keras.Model(images, [logits[:, 0], covariance])

    def probabilities(images):
        outputs = model(images, training=False)
        logits = ed.layers.utils.mean_field_logits(*outputs, sizes.variance_factor)
        return tf.nn.softmax(logits)[:, tf.newaxis].numpy()

    return probabilities


def _bounded_features(images, sizes):
    """Features that keep distances between images, within the bounds of their layers."""
    options = {
        "activation": "relu",
        "kernel_regularizer": tf.keras.regularizers.L2(sizes.decay),
    }
    bounds = {"norm_multiplier": sizes.spectral_norm}
    convolve, connect = (
        ed.layers.SpectralNormalizationConv2D,
        ed.layers.SpectralNormalization,
    )
    first = keras.Conv2D(2 * sizes.filters, 3, strides=2, **options)
    second = keras.Conv2D(2 * sizes.filters, 3, padding="same", **options)
    hidden = convolve(first, **bounds)(images)
    hidden += convolve(second, **bounds)(hidden)
    dense = keras.Dense(sizes.hidden, **options)
    return connect(dense, **bounds)(keras.Flatten()(hidden))


def laplace(train, sizes, seed):
    posterior = ed.inference.laplace(_plain(train, sizes), train, "categorical")
    return _by_posterior(posterior, sizes, seed)


def swag(train, sizes, seed):
    posterior = posteriors.swag(
        _plain(train, sizes), (train[0], train[1][:, None]), sizes, seed
    )
    return _by_posterior(posterior, sizes, seed)


def ivon(train, sizes, seed):
    def make_optimizer(rate):
        return posteriors.ivon(rate, sizes.ivon_scale * len(train[0]), sizes, seed)

    model = make_net(sizes)
    fit(model, train, sizes, sizes.ivon_rate, make_optimizer=make_optimizer)
    return _by_posterior(ed.inference.posterior(model), sizes, seed)


METHODS = {
    each.__name__: each
    for each in (
        *(deterministic, deep_ensemble, dropout, reparameterization, flipout),
        *(variational_dropout, rank1, batch_ensemble, sngp, moped),
        *(laplace, swag, ivon),
    )
}
