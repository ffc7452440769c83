"""Models of images, each from training images to what it makes of others.

A model is a function of training images [N, 16, 16, 1], whole numbers, of sizes and a seed.
It returns two functions. One is of images to log probabilities under S draws: [S, N] of
whole images, or [S, N, 256] of each pixel given those before it. Their exponentials are
right in the mean over draws. The other is of a number to so many images.

Sources: Parmar et al., 2018, Image Transformer; Gal and Ghahramani, 2016, Dropout as a
Bayesian Approximation; those of the others stand in `bayes_rl.models` or
`bayes_rl.inference`.
"""

import dataclasses
import functools
import math

import numpy as np
import tensorflow as tf

import bayes_rl as ed
from examples.methods import posteriors

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
    epochs: int = 60  # of a Transformer
    batch: int = 20
    rate: float = 1e-2  # of Adam at first
    coder_epochs: int = 20  # of the auto-encoders and the flow
    coder_batch: int = 40
    coder_rate: float = 3e-3
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
    members: int = 5
    dropout: float = 0.03  # of what attention and dense layers add
    swag_rate: float = 0.1
    swag_epochs: int = 10
    swag_rank: int = 20
    ivon_rate: float = 0.1
    ivon_hessian: float = 0.003  # at first
    ivon_memory: float = 0.999  # beta_2
    ivon_decay: float = 1e-4  # delta
    ivon_scale: float = 10.0  # above 1: a cold posterior
    ivon_clip: float = 0.1  # of the norm of a gradient
    pictures: int = 12


SMALL = Sizes(40, 8, 1, 20, coder_epochs=1, coder_batch=20, draws=2, depth=2, code=2)
SMALL = dataclasses.replace(SMALL, codes=4, flow_hidden=4, flows=2)
SMALL = dataclasses.replace(SMALL, hidden=4, heads=1, layers=1, members=2, pictures=2)
SMALL = dataclasses.replace(SMALL, swag_epochs=2, swag_rank=2)


def fit(nats, variables, train, sizes, seed):
    """Trains by Adam, whose rate falls to 0 as a cosine.

    Args:
        nats: function of images to a loss.
        variables: list of them.
        train: array of images.
        sizes: of the batches, and how many.
        seed: of the order of images.
    """
    steps = sizes.coder_epochs * (len(train) // sizes.coder_batch)
    rate = tf.keras.optimizers.schedules.CosineDecay(sizes.coder_rate, steps)
    optimizer = tf.keras.optimizers.Adam(rate)
    optimizer.build(variables)

    @tf.function(autograph=False)
    def step(images):
        with tf.GradientTape() as tape:
            loss = nats(images)
        gradients = tape.gradient(loss, variables)
        optimizer.apply_gradients(zip(gradients, variables, strict=True))

    data = tf.data.Dataset.from_tensor_slices(train).shuffle(len(train), seed).repeat()
    for images in data.batch(sizes.coder_batch, drop_remainder=True).take(steps):
        step(images)


def pixels(train, sizes, seed):
    """Each pixel with a chance of its own for each gray, one observation of all ahead."""
    counts = 1 + np.sum(train[..., None] == np.arange(GRAYS), axis=0)
    each = ed.Categorical(logits=np.log(counts, dtype=np.float32)).distribution
    return _drawn(_total(each.log_prob), 1), each.sample


def _total(log_prob):
    """Sums what a function of images gives for each of them: [N]."""

    def total(images):
        return tf.reduce_sum(tf.reshape(log_prob(images), [images.shape[0], -1]), axis=1)

    return total


def _drawn(log_probability, draws):
    """A function of images to what another, which draws, gives so many times: [S, N]."""
    traced = tf.function(log_probability, autograph=False)
    return lambda images: tf.stack([traced(tf.constant(images)) for _ in range(draws)])


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
    sample = lambda count: decoder(prior.sample(count)).value  # noqa: E731
    return _drawn(log_probability, sizes.draws), sample


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

    prior = _fit(make_transformer([4, 4, 1], sizes.codes, sizes), numbers_of(train), sizes)

    def log_probability(images):
        numbers = numbers_of(images)
        codes = tf.gather(codebook, numbers[..., 0])
        own = tf.reduce_sum(_log_probs(numbers, prior(numbers)), axis=1)
        return own + log_prob_given(codes, images)

    def sample(count):
        numbers = _draw_images(prior, [count, 4, 4, 1])[..., 0]
        logits = logits_of(tf.gather(codebook, numbers))
        return ed.Categorical(logits=logits).value[..., tf.newaxis]

    return _drawn(log_probability, 1), sample


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
    return _drawn(log_probability, sizes.draws), sample


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


def make_transformer(shape, values, sizes, dropout=0.0, **options):
    """An Image Transformer: each position sees those before it, of a few rows.

    Args:
        shape: [rows, columns, 1] of images.
        values: number of them.
        sizes: of layers.
        dropout: share of what attention and dense layers add.
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
        y = attention(y, tf.concat(seen, axis=2), attention_mask=mask)
        x = x + keras.Dropout(dropout)(y)
        y = keras.LayerNormalization()(x)
        y = ed.layers.DenseFlipout(4 * sizes.hidden, "relu", **options)(y)
        y = ed.layers.DenseFlipout(sizes.hidden, **options)(y)
        x = x + keras.Dropout(dropout)(y)
    logits = keras.Dense(values)(keras.LayerNormalization()(x))
    return tf.keras.Model(images, tf.reshape(logits, [-1, math.prod(shape), values]))


def make_mask(rows, columns, above):
    """Whether a position sees a key, [1, rows, columns, (above + 1) * columns].

    Keys are the positions of `above` rows, then those of its own row.
    """
    places = np.arange(-above * columns, rows * columns).reshape(rows + above, columns)
    keys = np.stack([places[i : i + above + 1].reshape(-1) for i in range(rows)])[:, None]
    return ((keys >= 0) & (keys <= places[above:, :, None]))[None]


def _fit(model, numbers, sizes, *options):
    """As `posteriors.fit`, of a Transformer by the mean over pixels."""

    def loss(numbers, logits):
        return -_log_probs(numbers, logits)

    return posteriors.fit(model, numbers, numbers, loss, sizes, *options)


def _log_probs(numbers, logits):
    """Of numbers [N, ...] under logits [N, places, values]: [N, places]."""
    numbers = tf.cast(tf.reshape(numbers, tf.shape(logits)[:-1]), tf.int32)
    return -tf.nn.sparse_softmax_cross_entropy_with_logits(numbers, logits)


def _draw_images(logits_of, shape):
    """Whole numbers [count, rows, columns, 1], one place after the other."""

    @tf.function(autograph=False)
    def next_number(images, place):
        return tf.random.categorical(logits_of(images)[:, place], 1)[:, 0]

    images = np.zeros(shape, np.int32)
    for place in range(math.prod(shape[1:])):
        number = next_number(tf.constant(images), tf.constant(place))
        images.reshape(shape[0], -1)[:, place] = number
    return images


def _transformer(train, sizes, **options):
    return _fit(make_transformer(SHAPE, GRAYS, sizes, **options), train, sizes)


def _by_functions(functions):
    """Of each pixel by functions of images to logits; images are drawn by the first."""

    def log_probs(images):
        images = tf.constant(images)
        return tf.stack([_log_probs(images, logits_of(images)) for logits_of in functions])

    return log_probs, lambda count: _draw_images(functions[0], [count, *SHAPE])


def by_draws(model, draws):
    """Of each pixel by draws of a model's weights, dict of name -> [S, *shape]."""

    @tf.function(autograph=False)
    def held(images, weights):
        with ed.hold(model, weights):
            return model(images)

    count = len(next(iter(draws.values())))
    each = [{name: values[i] for name, values in draws.items()} for i in range(count)]
    return _by_functions([functools.partial(held, weights=weights) for weights in each])


def transformer(train, sizes, seed):
    return _by_functions([tf.function(_transformer(train, sizes), autograph=False)])


def deep_ensemble(train, sizes, seed):
    members = [_transformer(train, sizes) for _ in range(sizes.members)]
    return _by_functions([tf.function(member, autograph=False) for member in members])


def dropout(train, sizes, seed):
    model = _transformer(train, sizes, dropout=sizes.dropout)
    masked = tf.function(functools.partial(model, training=True), autograph=False)
    return _by_functions([masked] * sizes.draws)


def bayesian_transformer(train, sizes, seed):
    posterior = ed.initializers.TrainableNormal(
        "glorot_uniform", ed.initializers.ScaledNormalStdDev(sizes.first_variance)
    )
    cost = ed.regularizers.NormalKLDivergence(stddev=sizes.prior_stddev)
    options = {"kernel_initializer": posterior, "kernel_regularizer": cost}
    model = make_transformer(SHAPE, GRAYS, sizes, **options)
    ed.scale_kl(model, sizes.kl_scale / train.size)
    return by_draws(_fit(model, train, sizes), ed.sample_weights(model, sizes.draws, seed))


def laplace(train, sizes, seed):
    """Of the last layer; the trained weights of the others."""
    model = _transformer(train, sizes)
    last = next(layer for layer in reversed(model.layers) if layer.weights)
    states = tf.keras.Model(model.input, last.input)
    head = tf.keras.Sequential([tf.keras.Input([sizes.hidden]), last])
    rows = states.predict(train, sizes.batch, verbose=0).reshape(-1, sizes.hidden)
    found = ed.inference.laplace(
        head, (rows, train.reshape(-1)), "categorical", batch_size=512
    )
    return by_draws(model, found.sample([sizes.draws], seed))


def swag(train, sizes, seed):
    model = _transformer(train, sizes)
    found = posteriors.swag(model, (train, train), sizes, seed)
    return by_draws(model, found.sample([sizes.draws], seed))


def ivon(train, sizes, seed):
    def make_optimizer(rate):
        examples = sizes.ivon_scale * train.size
        clipped = {"global_clipnorm": sizes.ivon_clip}
        return posteriors.ivon(rate, examples, sizes, seed, **clipped)

    model = make_transformer(SHAPE, GRAYS, sizes)
    _fit(model, train, sizes, sizes.ivon_rate, make_optimizer)
    found = ed.inference.posterior(model)
    return by_draws(model, found.sample([sizes.draws], seed))


METHODS = {
    each.__name__: each
    for each in (
        *(pixels, vae, vq_vae, flow, transformer, bayesian_transformer),
        *(deep_ensemble, dropout, laplace, swag, ivon),
    )
}
