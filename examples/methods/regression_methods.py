"""Six regressions: each takes training data to a function that predicts.

A predictor takes inputs [N, features] to means and stddevs [S, N] of a mixture of S normal
distributions of the outcome.
"""

import dataclasses
import math

import numpy as np
import tensorflow as tf
import tensorflow_probability as tfp

import bayes_rl as ed

keras = tf.keras.layers


@dataclasses.dataclass(frozen=True)
class Sizes:
    """What `--small` makes small, and what was chosen."""

    curve: int = 200
    patients: int = 342
    tests: int = 100
    hidden: int = 50
    steps: int = 4000  # of training
    batch: int = 32
    rate: float = 0.01
    draws: int = 100
    first_variance: float = 0.01  # of a weight at first, times the layer's inputs
    prior_variance: float = 4.0  # of a weight, times the layer's inputs
    plain_variances: tuple = (4.0, 0.4, 0.04, 0.004)  # of which the plain network has one
    inducing: int = 30
    functions: int = 3  # of the deep Gaussian process's first layer
    sampled_hidden: int = 10  # of the network that NUTS samples
    chains: int = 4
    warmup: int = 300
    gp_steps: int = 300  # of learning a Gaussian process's hyperparameters


SMALL = Sizes(20, 30, 10, 4, 4, 10, 0.01, 3, plain_variances=(4.0,), inducing=4)
SMALL = dataclasses.replace(SMALL, chains=2, warmup=4, gp_steps=4)


class Moments(keras.Layer):
    """Mean and variance of a function [N, 1], and log stddev of the noise: [N, 3]."""

    def build(self, shape):
        start = tf.keras.initializers.Constant(math.log(0.5))
        self.log_stddev = self.add_weight("log_stddev", [], initializer=start)

    def call(self, function):
        if isinstance(function, ed.RandomVariable):
            mean, variance = function.distribution.mean(), function.distribution.variance()
        else:
            mean, variance = function, tf.zeros_like(function)
        log_stddev = self.log_stddev + tf.zeros_like(mean)
        return tf.concat([mean, tf.reshape(variance, tf.shape(mean)), log_stddev], -1)


def nats(targets, moments):
    """Expected negative log likelihood of targets [N, 1] under moments [N, 3]."""
    mean, variance, log_stddev = tf.split(moments, 3, axis=-1)
    squares = (tf.square(targets - mean) + variance) * tf.exp(-2.0 * log_stddev)
    return 0.5 * squares + log_stddev + 0.5 * math.log(2.0 * math.pi)


def prediction(moments):
    """Means and stddevs [S, N] of outcomes whose functions have moments [S, N, 3]."""
    mean, variance, log_stddev = np.moveaxis(np.asarray(moments), -1, 0)
    return mean, np.sqrt(variance + np.exp(2.0 * log_stddev))


def fit(model, inputs, targets, sizes, callbacks=()):
    schedule = tf.keras.optimizers.schedules.CosineDecay(sizes.rate, sizes.steps)
    model.compile(tf.keras.optimizers.Adam(schedule), nats)
    data = tf.data.Dataset.from_tensor_slices((inputs, targets[:, None]))
    data = data.shuffle(len(inputs)).repeat().batch(sizes.batch)
    model.fit(data, steps_per_epoch=sizes.steps, callbacks=list(callbacks), verbose=0)
    return model


def _posteriors(sizes, fan):
    """Options of a Bayesian layer with so many inputs."""
    posterior = ed.initializers.TrainableNormal(
        _of_prior(sizes), ed.initializers.ScaledNormalStdDev(sizes.first_variance)
    )
    prior = math.sqrt(sizes.prior_variance / fan)
    cost = ed.regularizers.NormalKLDivergence(stddev=prior)
    return {"kernel_initializer": posterior, "kernel_regularizer": cost}


def _of_prior(sizes):
    """Kernels at first: a draw of the prior, so that kinks lie among the inputs."""
    return tf.keras.initializers.VarianceScaling(sizes.prior_variance, "fan_in")


def _kinks():
    """Biases at first, so that kinks of hidden units lie all over the inputs."""
    return tf.keras.initializers.RandomUniform(-2.0, 2.0)


def _bayesian(dense, inputs, targets, sizes):
    fans = inputs.shape[1], sizes.hidden
    options = [_posteriors(sizes, fan) for fan in fans]
    first = {"activation": "relu", "bias_initializer": _kinks()} | options[0]
    layers = dense(sizes.hidden, **first), dense(1, **options[1]), Moments()
    model = tf.keras.Sequential(layers)
    model(inputs[:1])
    # At once the KL would keep means from finding the data.
    grow = tf.keras.optimizers.schedules.PolynomialDecay
    schedule = grow(0.0, sizes.steps // 2, 1 / len(inputs))
    return fit(model, inputs, targets, sizes, [ed.AnnealKL(schedule)])


def deterministic(inputs, targets, sizes, seed):
    """The most probable weights under the prior that is best on a fifth of the data."""
    kept = len(inputs) // 5

    def loss(variance):
        model = _plain(inputs[kept:], targets[kept:], sizes, variance)
        return float(tf.reduce_mean(nats(targets[:kept, None], model(inputs[:kept]))))

    best = min(sizes.plain_variances, key=loss)
    model = _plain(inputs, targets, sizes, best)
    return lambda x: prediction(model(x)[tf.newaxis])


def _plain(inputs, targets, sizes, variance):
    first, second = (
        tf.keras.regularizers.L2(0.5 * fan / (variance * len(inputs)))
        for fan in (inputs.shape[1], sizes.hidden)
    )
    layers = [
        keras.Dense(sizes.hidden, "relu", True, _of_prior(sizes), _kinks(), first),
        keras.Dense(1, None, True, _of_prior(sizes), kernel_regularizer=second),
        Moments(),
    ]
    return fit(tf.keras.Sequential(layers), inputs, targets, sizes)


def flipout(inputs, targets, sizes, seed):
    model = _bayesian(ed.layers.DenseFlipout, inputs, targets, sizes)
    return lambda x: prediction(ed.predict(model, x, sizes.draws, seed, len(x), verbose=0))


def dvi(inputs, targets, sizes, seed):
    model = _bayesian(ed.layers.DenseDVI, inputs, targets, sizes)
    return lambda x: prediction(model(x)[tf.newaxis])


def deep_gp(inputs, targets, sizes, seed):
    options = {
        "inducing_inputs_initializer": tf.keras.initializers.Constant(
            inputs[np.random.default_rng(seed).integers(len(inputs), size=sizes.inducing)]
        )
    }
    layers = [
        ed.layers.SparseGaussianProcess(
            sizes.functions,
            sizes.inducing,
            covariance_fn=_learned(inputs.shape[1]),
            **options,
        ),
        ed.layers.SparseGaussianProcess(
            1, sizes.inducing, covariance_fn=_learned(sizes.functions)
        ),
    ]
    model = tf.keras.Sequential([*layers, Moments()])
    model(inputs[:1])
    ed.scale_kl(model, 1 / len(inputs))
    fit(model, inputs, targets, sizes)
    return lambda x: prediction(np.stack([model(x) for _ in range(sizes.draws)]))


def _learned(features):
    lengthscale = np.full([features], math.sqrt(features), np.float32)
    return ed.layers.ExponentiatedQuadratic(1.0, lengthscale, trainable_parameters=True)


def gp(inputs, targets, sizes, seed):
    covariance = _learned(inputs.shape[1])
    noise = tfp.util.TransformedVariable(0.25, tfp.bijectors.Exp(), name="noise")
    options = {"covariance_fn": covariance, "noise_variance": noise}
    prior = ed.layers.GaussianProcess(1, **options)
    optimizer = tf.keras.optimizers.Adam(0.05)

    @tf.function(autograph=False)
    def step():
        with tf.GradientTape() as tape:
            loss = -tf.reduce_sum(prior(inputs).log_prob(targets[:, None]))
        gradients = tape.gradient(loss, prior.trainable_weights)
        optimizer.apply_gradients(zip(gradients, prior.trainable_weights, strict=True))

    for _ in range(sizes.gp_steps):
        step()
    data = {"conditional_inputs": inputs, "conditional_outputs": targets[:, None]}
    posterior = ed.layers.GaussianProcess(1, **options, **data)

    def predict(x):
        function = posterior(x).distribution
        mean, variance = function.mean()[:, 0], function.variance()[:, 0]
        return np.array([mean]), np.sqrt(np.array([variance + noise]))

    return predict


def nuts(inputs, targets, sizes, seed):
    model, log_joint = _program(inputs, sizes)
    shapes = {name: w.shape for name, w in ed.sample_weights(model, seed=seed).items()}

    def log_density(log_stddev, *weights):
        values = dict(zip(shapes, weights, strict=True))
        own = ed.Normal(0.0, 1.0).log_prob(log_stddev + 1.0)
        return own + log_joint(inputs, targets, log_stddev, **values)

    def log_densities(*state):
        return tf.vectorized_map(lambda one: log_density(*one), state)

    @tf.function(autograph=False)
    def sample(state):
        kernel = tfp.mcmc.NoUTurnSampler(log_densities, 0.01, max_tree_depth=6)
        kernel = tfp.mcmc.DualAveragingStepSizeAdaptation(kernel, int(0.8 * sizes.warmup))
        return tfp.mcmc.sample_chain(
            max(1, sizes.draws // sizes.chains),
            state,
            kernel=kernel,
            num_burnin_steps=sizes.warmup,
            num_steps_between_results=2,
            trace_fn=None,
            seed=[seed, 0],
        )

    first = ed.sample_weights(model, [sizes.chains], seed=seed)
    log_stddevs, *weights = sample([tf.fill([sizes.chains], -1.0), *first.values()])
    flat = [tf.reshape(w, [-1, *w.shape[2:]]) for w in weights]
    draws, stddevs = dict(zip(shapes, flat, strict=True)), np.exp(log_stddevs).reshape(-1)

    def predict(x):
        means = ed.predict(model, x, draws, batch_size=len(x), verbose=0)[..., 0]
        return means, np.repeat(stddevs[:, None], len(x), axis=1)

    return predict


def _program(inputs, sizes):
    """A network with priors, and the log joint density of its weights and targets."""
    fans = inputs.shape[1], sizes.sampled_hidden
    stddevs = [math.sqrt(sizes.prior_variance / fan) for fan in fans]
    options = [
        {
            "kernel_initializer": ed.initializers.TrainableNormalFixedStddev(s, "zeros"),
            "bias_initializer": ed.initializers.TrainableNormalFixedStddev(1.0, "zeros"),
            "kernel_regularizer": None,
        }
        for s in stddevs
    ]
    dense = ed.layers.DenseReparameterization
    hidden = dense(sizes.sampled_hidden, activation="tanh", name="hidden", **options[0])
    first, last = tf.keras.Input(inputs.shape[1:]), dense(1, name="output", **options[1])
    model = tf.keras.Sequential([first, hidden, last])

    def program(inputs, targets, log_stddev):
        means = model(inputs)[:, 0]
        return ed.Normal(means, tf.exp(log_stddev), value=targets, name="targets")

    return model, ed.make_log_joint_fn(program)


METHODS = {each.__name__: each for each in (deterministic, flipout, dvi, nuts, deep_gp, gp)}
