"""Models of images, each from training images to what it makes of others.

A model is a function of training images [N, 16, 16, 1], whole numbers, of sizes and a seed.
It returns two functions: of images to the log probability of each under one draw, whose
exponential is right in the mean over draws; and of a number to so many images.
"""

import dataclasses
import math

import numpy as np
import tensorflow as tf

import bayes_rl as ed

SIDE = 16
GRAYS = 17
SHAPE = [SIDE, SIDE, 1]
_MARGIN = 0.01  # of grays, so that their logits are finite
keras = tf.keras.layers


@dataclasses.dataclass(frozen=True)
class Sizes:
    """What `--small` makes small, and what was chosen."""

    train: int = 1200
    tests: int = 500
    epochs: int = 20
    batch: int = 40
    rate: float = 3e-3  # of Adam at first
    draws: int = 20
    depth: int = 16  # of the auto-encoders' outer convolutions
    code: int = 16  # numbers of the variational one's code
    codes: int = 64  # of the codebook
    flow_hidden: int = 128
    flows: int = 4
    hidden: int = 32  # of each position of a Transformer
    heads: int = 4
    layers: int = 2
    rows: int = 2  # above its own that a position sees
    first_variance: float = 0.01  # of a weight at first, times the layer's inputs
    prior_stddev: float = 0.2
    kl_scale: float = 0.1  # below 1: a cold posterior
    pictures: int = 12


SMALL = Sizes(40, 8, 1, 20, draws=2, depth=2, code=2, codes=4, flow_hidden=4, flows=2)
SMALL = dataclasses.replace(SMALL, hidden=4, heads=1, layers=1, pictures=2)


def fit(nats, variables, train, sizes, seed):
    """Trains by Adam, whose rate falls to 0 as a cosine.

    Args:
        nats: function of images to a loss.
        variables: list of them.
        train: array of images.
        sizes: of the batches, and how many.
        seed: of the order of images.
    """
    steps = sizes.epochs * (len(train) // sizes.batch)
    rate = tf.keras.optimizers.schedules.CosineDecay(sizes.rate, steps)
    optimizer = tf.keras.optimizers.Adam(rate)
    optimizer.build(variables)

    @tf.function(autograph=False)
    def step(images):
        with tf.GradientTape() as tape:
            loss = nats(images)
        gradients = tape.gradient(loss, variables)
        optimizer.apply_gradients(zip(gradients, variables, strict=True))

    data = tf.data.Dataset.from_tensor_slices(train).shuffle(len(train), seed).repeat()
    for images in data.batch(sizes.batch, drop_remainder=True).take(steps):
        step(images)


def pixels(train, sizes, seed):
    """Each pixel with a chance of its own for each gray, one observation of all ahead."""
    counts = 1 + np.sum(train[..., None] == np.arange(GRAYS), axis=0)
    each = ed.Categorical(logits=np.log(counts, dtype=np.float32)).distribution
    return _total(lambda images: each.log_prob(images)), each.sample


def _total(log_prob):
    """Sums what a function of images gives for each of them: [N]."""

    def total(images):
        return tf.reduce_sum(tf.reshape(log_prob(images), [images.shape[0], -1]), axis=1)

    return total


def vae(train, sizes, seed):
    encoder, decoder = ed.models.build_vae(SHAPE, sizes.depth, sizes.code, 2, GRAYS)
    shape = [1, 1, sizes.code]
    prior = ed.Normal(tf.zeros(shape), 1.0).distribution

    def log_probability(images):
        code = encoder(_scaled(images))
        surprise = _total(prior.log_prob)(code) - _total(code.distribution.log_prob)(code)
        return surprise + _total(decoder(code).distribution.log_prob)(images)

    log_probability(train[:2])
    variables = encoder.trainable_variables + decoder.trainable_variables
    fit(lambda x: -tf.reduce_mean(log_probability(x)), variables, train, sizes, seed)
    return log_probability, lambda count: decoder(prior.sample(count)).value


def _scaled(images):
    return tf.cast(images, tf.float32) * (2.0 / (GRAYS - 1)) - 1.0


def vq_vae(train, sizes, seed):
    """First the auto-encoder, then a Transformer of its codes in their 4 rows."""
    size = sizes.depth
    encoder, decoder = ed.models.build_vector_quantized_vae(GRAYS, size, 4, sizes.codes, 1)
    logits_of = tf.keras.Sequential(decoder.layers[:-1])  # grays, not black or white

    def log_prob_given(codes, images):
        logits = logits_of(codes)[:, :, :, tf.newaxis]
        return _total(ed.Categorical(logits=logits).distribution.log_prob)(images)

    def nats(images):
        own = log_prob_given(encoder(_scaled(images)), images)
        return -tf.reduce_mean(own) + sum(encoder.losses)

    nats(train[:2])
    variables = encoder.trainable_variables + logits_of.trainable_variables
    fit(nats, variables, train, sizes, seed)
    codebook = encoder.layers[-1].codebook

    def numbers_of(images):
        codes = encoder(_scaled(images))[..., tf.newaxis, :]
        return tf.argmin(tf.reduce_sum((codes - codebook) ** 2, -1), -1)[..., tf.newaxis]

    log_prior, draw = _transformer(numbers_of(train).numpy(), sizes, seed, sizes.codes)

    def log_probability(images):
        numbers = numbers_of(images)
        codes = tf.gather(codebook, numbers[..., 0])
        return log_prior(numbers) + log_prob_given(codes, images)

    def sample(count):
        logits = logits_of(tf.gather(codebook, draw(count)[..., 0]))
        return ed.Categorical(logits=logits).value[..., tf.newaxis]

    return log_probability, sample


def flow(train, sizes, seed):
    """A masked autoregressive flow of logits of grays with noise below them."""
    hidden = [sizes.flow_hidden] * 2
    chain = ed.models.build_masked_autoregressive_flow(hidden, sizes.flows, "relu")

    first, _ = noisy_logits(train)
    mean, stddev = tf.reduce_mean(first, 0), tf.math.reduce_std(first, 0)

    def outputs(count):
        return chain(ed.Normal(tf.zeros([count, math.prod(SHAPE)]), 1.0))

    def log_probability(images):
        logits, log_slopes = noisy_logits(images)
        found = outputs(images.shape[0]).distribution.log_prob((logits - mean) / stddev)
        log_slopes = tf.reduce_sum(log_slopes - tf.math.log(stddev), axis=1)
        return log_slopes + tf.reshape(found, [images.shape[0]])

    def sample(count):
        shares = tf.sigmoid(outputs(count).value * stddev + mean) - _MARGIN
        found = tf.floor(shares / (1.0 - 2.0 * _MARGIN) * GRAYS)
        return tf.reshape(tf.clip_by_value(found, 0, GRAYS - 1), [count, *SHAPE])

    log_probability(train[:2])
    variables = chain.trainable_variables
    fit(lambda x: -tf.reduce_mean(log_probability(x)), variables, train, sizes, seed)
    return log_probability, sample


def noisy_logits(images):
    """Images with noise below their grays, as logits.

    Args:
        images: [N, 16, 16, 1].

    Returns:
        Logits [N, 256], and the log of their slope over gray.
    """
    shares = (tf.cast(images, tf.float32) + tf.random.uniform(images.shape)) / GRAYS
    shares = tf.reshape(_MARGIN + (1.0 - 2.0 * _MARGIN) * shares, [images.shape[0], -1])
    log_slopes = math.log((1.0 - 2.0 * _MARGIN) / GRAYS) - tf.math.log(shares)
    return tf.math.log(shares / (1.0 - shares)), log_slopes - tf.math.log(1.0 - shares)


def make_transformer(shape, values, sizes, **options):
    """An Image Transformer: each position sees those before it, of a few rows.

    Args:
        shape: [rows, columns, 1] of images.
        values: number of them.
        sizes: of layers.
        **options: of all kernels, posteriors and their costs.

    Returns:
        Model from whole numbers [B, *shape] to logits [B, rows * columns, values].
    """
    options = {"kernel_initializer": "glorot_uniform", "kernel_regularizer": None} | options
    images = tf.keras.Input(shape, dtype=tf.int32)
    x = ed.layers.ChannelEmbedding(sizes.hidden, values)(images)
    x = tf.pad(x, [[0, 0], [1, 0], [0, 0]])[:, :-1]  # no position sees itself
    x = ed.layers.PositionalEmbedding(math.prod(shape))(x)
    x = tf.reshape(x, [-1, *shape[:2], sizes.hidden])
    mask = make_mask(*shape[:2], sizes.rows)
    for _ in range(sizes.layers):
        y = keras.LayerNormalization()(x)
        above = tf.pad(y, [[0, 0], [sizes.rows, 0], [0, 0], [0, 0]])
        seen = [above[:, i : i + shape[0]] for i in range(sizes.rows + 1)]
        attention = ed.layers.MultiHeadAttentionFlipout(
            sizes.heads, sizes.hidden // sizes.heads, attention_axes=(2,), **options
        )
        x = x + attention(y, tf.concat(seen, axis=2), attention_mask=mask)
        y = keras.LayerNormalization()(x)
        y = ed.layers.DenseFlipout(4 * sizes.hidden, "relu", **options)(y)
        x = x + ed.layers.DenseFlipout(sizes.hidden, **options)(y)
    logits = keras.Dense(values)(keras.LayerNormalization()(x))
    return tf.keras.Model(images, tf.reshape(logits, [-1, math.prod(shape), values]))


def make_mask(rows, columns, above):
    """Whether a position sees a key, [1, rows, columns, (above + 1) * columns].

    Keys are the positions of `above` rows, then those of its own row.
    """
    places = np.arange(-above * columns, rows * columns).reshape(rows + above, columns)
    keys = np.stack([places[i : i + above + 1].reshape(-1) for i in range(rows)])[:, None]
    return ((keys >= 0) & (keys <= places[above:, :, None]))[None]


def _transformer(train, sizes, seed, values=GRAYS, kl_scale=None, **options):
    model = make_transformer(list(train.shape[1:]), values, sizes, **options)
    if kl_scale:
        ed.scale_kl(model, kl_scale / len(train))

    def nats(images):
        return sum(model.losses) - tf.reduce_mean(log_prob(images))

    def log_prob(images):
        numbers = tf.reshape(images, [images.shape[0], -1])
        return _total(ed.Categorical(logits=model(images)).distribution.log_prob)(numbers)

    def log_probability(images):
        with ed.hold(model, ed.sample_weights(model)):
            return log_prob(images)

    @tf.function(autograph=False)
    def next_number(images, place, weights):
        with ed.hold(model, weights):
            return tf.random.categorical(model(images)[:, place], 1)[:, 0]

    def sample(count):
        weights, images = ed.sample_weights(model), np.zeros_like(train[:count])
        for place in range(math.prod(train.shape[1:])):
            number = next_number(tf.constant(images), tf.constant(place), weights)
            images.reshape(count, -1)[:, place] = number
        return images

    fit(nats, model.trainable_variables, train, sizes, seed)
    return log_probability, sample


def transformer(train, sizes, seed):
    return _transformer(train, sizes, seed)


def bayesian_transformer(train, sizes, seed):
    posterior = ed.initializers.TrainableNormal(
        "glorot_uniform", ed.initializers.ScaledNormalStdDev(sizes.first_variance)
    )
    cost = ed.regularizers.NormalKLDivergence(stddev=sizes.prior_stddev)
    options = {"kernel_initializer": posterior, "kernel_regularizer": cost}
    return _transformer(train, sizes, seed, kl_scale=sizes.kl_scale, **options)


METHODS = {
    each.__name__: each
    for each in (pixels, vae, vq_vae, flow, transformer, bayesian_transformer)
}
