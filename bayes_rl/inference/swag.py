"""SWAG: a Gaussian of low rank from the path of gradient descent around a solution."""

import contextlib
import math

import numpy as np
import tensorflow as tf
import tensorflow_probability as tfp

from bayes_rl import checks
from bayes_rl.inference.batch_norm import layers_of, with_statistics
from bayes_rl.inference.posterior import (
    Posterior,
    batches_of,
    check_has_no_posterior,
    kind_of_posterior,
    members_of_draws,
    standard_normals,
    values_of,
    with_prefix,
)
from bayes_rl.numerics.noise import stateless_normal
from bayes_rl.weights import named_variables, trainable_variables
from bayes_rl.weights.drawing import seed_of

_SMALLEST = 1e-30  # variance


@kind_of_posterior("swag")
class Swag(Posterior):
    """Gaussians around the ends of training; made by `bayes_rl.inference.swag`.

        weights = mean + (sqrt(variance) z1 + D z2 / sqrt(K - 1)) / sqrt(2)

    with standard normal z1 and z2. Of several starts each has a Gaussian, and draws come
    from one after the other.

    Attributes:
        mean: dict of full name -> [*shape of the variable], the average over starts.
        means: dict of full name -> [starts, *shape].
        variances: dict of full name -> [starts, *shape].
        deviations: dict of full name -> [starts, K, *shape], D.
        data: training data, of which statistics of batch normalization are made for each
            draw; None after loading, where a model with such layers needs them again.
    """

    def __init__(self, model, means, variances, deviations, data=None, batch_size=32):
        super().__init__(model, {name: x.mean(axis=0) for name, x in means.items()})
        self.means, self.variances, self.deviations = means, variances, deviations
        self.data, self._batch_size = data, batch_size

    def log_prob(self, weights):
        """Log density, without statistics of batch normalization.

        Args:
            weights: as `sample` gives them.

        Returns:
            [*sample_shape], nats.
        """
        value = self._joined(weights, 0)  # [*sample_shape, P]
        loc, variance = self._joined(self.means, 1), self._joined(self.variances, 1)
        factors = np.moveaxis(self._joined(self.deviations, 2), 1, 2)  # [starts, P, K]
        gaussians = tfp.distributions.MultivariateNormalDiagPlusLowRankCovariance(
            loc, variance / 2.0, factors / math.sqrt(2.0 * (factors.shape[-1] - 1.0))
        )
        log_probs = gaussians.log_prob(value[..., np.newaxis, :])
        return tfp.math.reduce_logmeanexp(log_probs, axis=-1).numpy()

    def _joined(self, values, axes):
        """[..., P] in float64, after what stands before the shape of a variable."""
        parts = []
        for name, mean in self.mean.items():
            value = np.asarray(values[name], np.float64)
            before = value.shape[: value.ndim - mean.ndim]
            parts.append(value.reshape([*before, mean.size]))
        return np.concatenate(parts, axis=-1)

    def _draws(self, count, seed):
        starts, rank = next(iter(self.deviations.values())).shape[:2]
        chosen = members_of_draws(count, starts, seed)
        own = standard_normals({k: x.shape for k, x in self.mean.items()}, count, seed)
        common = stateless_normal([count, rank], seed_of("deviations", seed)).numpy()
        common /= math.sqrt(rank - 1.0)
        draws = {}
        for name in self.mean:
            change = np.sqrt(self.variances[name][chosen]) * own[name].numpy()
            for k in range(rank):
                factor = common[:, k].reshape([-1] + [1] * self.mean[name].ndim)
                change = change + factor * self.deviations[name][chosen, k]
            value = self.means[name][chosen] + change / math.sqrt(2.0)
            draws[name] = tf.constant(value, self.mean[name].dtype)
        if not layers_of(self.model):
            return draws
        if self.data is None:
            raise ValueError(
                "each draw needs statistics of batch normalization, made of training data: "
                "ed.inference.load(path, model, data)"
            )
        return with_statistics(self.model, draws, batches_of(self.data, self._batch_size))

    def _state(self):
        kinds = {"means": self.means, "variances": self.variances}
        kinds |= {"deviations": self.deviations}
        arrays = {f"{kind}/{k}": x for kind, own in kinds.items() for k, x in own.items()}
        return {"batch_size": self._batch_size}, arrays

    @classmethod
    def _from_state(cls, model, settings, arrays):
        kinds = ("means", "variances", "deviations")
        parts = {kind: with_prefix(f"{kind}/", arrays) for kind in kinds}
        return cls(model, **parts, batch_size=settings["batch_size"])


def swag(
    model,
    data,
    learning_rate=0.01,
    epochs=20,
    rank=20,
    starts=None,
    momentum=0.9,
    batch_size=32,
    seed=None,
):
    """Stochastic weight averaging, Gaussian: trains on from a solution, and looks around.

        mean, variance: of the weights at the ends of epochs,
        deviations: of the last `rank` of them from the mean until then

    Training is gradient descent at a constant rate by the loss that the model was compiled
    with, whose optimizer is not used. The model ends with the weights that it has now. The
    rate should be large enough for the loss to rise a little.

    Source: Maddox et al., 2019, A Simple Baseline for Bayesian Uncertainty in Deep
    Learning, algorithm 1; Wilson and Izmailov, 2020, Bayesian Deep Learning and a
    Probabilistic Perspective of Generalization, section 4, for several starts (MultiSWAG).

    Args:
        model: compiled Keras model, trained unless `starts` are given.
        data: (inputs, targets) or a `tf.data.Dataset` of batches of them; kept for
            statistics of batch normalization, which are made anew for each draw.
        learning_rate: of gradient descent, above 0.
        epochs: number of epochs, at least 2.
        rank: K, at least 2; at most `epochs` count.
        starts: draws with an axis of starts, such as those of `sample([members])` of
            `bayes_rl.inference.ensemble`, for one Gaussian each; None for one at the
            model's weights.
        momentum: of gradient descent.
        batch_size: where data are no dataset.
        seed: of the order of examples where data are no dataset, an int.

    Returns:
        A `Swag`.

    Raises:
        ValueError: the model is not compiled or has stochastic weights, or a number is too
            small.

    Example:
        >>> import bayes_rl as ed
        >>> model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=[2])])
        >>> model.compile("adam", "mse")
        >>> data = np.eye(2, dtype=np.float32), np.ones([2, 1], np.float32)
        >>> posterior = ed.inference.swag(model, data, epochs=3, rank=2)
        >>> posterior.predict(data[0], draws=5, seed=1, verbose=0).shape
        (5, 2, 1)
    """
    check_has_no_posterior(model, "ed.inference.swag")
    if not getattr(model, "_is_compiled", False):
        raise ValueError(
            "ed.inference.swag trains by the loss of a model, which has none: call "
            "model.compile(optimizer, loss) first"
        )
    for name, value in (("epochs", epochs), ("rank", rank)):
        if checks.as_size(name, value) < 2:
            raise ValueError(f"{name} must be at least 2, got {value}")
    batches = _shuffled(data, batch_size, seed)
    variables, moments = trainable_variables(model), []
    with _weights_kept(model):
        for start in _each(starts):
            for name, value in start.items():
                named_variables(model)[name].assign(value)
            found = _Moments(min(rank, epochs))
            for _ in _train(model, batches, learning_rate, momentum, epochs):
                found.add(values_of(variables))
            moments.append(found)
    parts = [x.parts() for x in moments]
    stacked = [
        {name: np.stack([part[i][name] for part in parts]) for name in variables}
        for i in range(3)
    ]
    return Swag(model, *stacked, data=data, batch_size=batch_size)


def _shuffled(data, batch_size, seed):
    batches = batches_of(data, batch_size)
    if batches is data:
        return data
    batches = batches.unbatch()
    count = int(tf.nest.flatten(data)[0].shape[0])
    return batches.shuffle(count, seed=seed).batch(batch_size)


def _each(starts):
    if starts is None:
        return [{}]
    count = len(next(iter(starts.values())))
    return [{name: value[i] for name, value in starts.items()} for i in range(count)]


@contextlib.contextmanager
def _weights_kept(model):
    kept = model.get_weights()
    try:
        yield
    finally:
        model.set_weights(kept)
        model.reset_metrics()


def _train(model, batches, learning_rate, momentum, epochs):
    """Trains, and stops at the end of each epoch."""
    optimizer = tf.keras.optimizers.SGD(learning_rate, momentum)
    if model.dtype_policy.name == "mixed_float16":
        optimizer = tf.keras.mixed_precision.LossScaleOptimizer(optimizer)
    optimizer.build(model.trainable_variables)

    @tf.function(autograph=False, reduce_retracing=True)
    def step(batch):
        inputs, targets, weights = tf.keras.utils.unpack_x_y_sample_weight(batch)
        with tf.GradientTape() as tape:
            outputs = model(inputs, training=True)
            loss = model.compute_loss(inputs, targets, outputs, weights)
        optimizer.minimize(loss, model.trainable_variables, tape=tape)
        return loss

    for _ in range(epochs):
        for batch in batches:
            loss = step(batch)
        if not np.isfinite(loss):
            raise ValueError(
                f"the loss became {float(loss)} at learning_rate={learning_rate}; choose a "
                "smaller one"
            )
        yield


class _Moments:
    """Running mean and second moment of weights, and the last `rank` deviations."""

    def __init__(self, rank):
        self._rank, self._count = rank, 0
        self._mean, self._square, self._deviations = {}, {}, []

    def add(self, weights):
        """Counts one more."""
        self._count += 1
        for name, value in weights.items():
            value = value.astype(np.float64)
            for total, new in ((self._mean, value), (self._square, value**2)):
                total[name] = total.get(name, 0.0) + (
                    (new - total.get(name, 0.0)) / self._count
                )
        deviation = {name: x - self._mean[name] for name, x in weights.items()}
        self._deviations = [*self._deviations, deviation][-self._rank :]

    def parts(self):
        """Mean, variance and deviations [K, *shape], each a dict of name -> float32."""
        variance = {
            name: np.maximum(self._square[name] - mean**2, _SMALLEST)
            for name, mean in self._mean.items()
        }
        deviations = {
            name: np.stack([x[name] for x in self._deviations]) for name in self._mean
        }
        return [
            {name: np.asarray(x, np.float32) for name, x in part.items()}
            for part in (self._mean, variance, deviations)
        ]
