"""Laplace's approximation: a Gaussian around trained weights, by the loss's curvature."""

import math

import numpy as np
import tensorflow as tf

from bayes_rl import checks
from bayes_rl.inference.curvature.blocks import STRUCTURES
from bayes_rl.inference.curvature.evidence import Evidence
from bayes_rl.inference.curvature.likelihoods import LIKELIHOODS, rows_of
from bayes_rl.inference.curvature.sums import as_float64, make_sums
from bayes_rl.inference.posterior import (
    Posterior,
    batches_of,
    check_has_no_posterior,
    kind_of_posterior,
    standard_normals,
    values_of,
    with_prefix,
)
from bayes_rl.weights import hold, named_variables, predict

_SUBSETS = ("last_layer", "all")
_ZERO = tf.UnconnectedGradients.ZERO


@kind_of_posterior("laplace")
class Laplace(Posterior):
    """A Gaussian around trained weights; made by `bayes_rl.inference.laplace`.

        weights ~ Normal(mean, (G / noise_stddev^2 + prior_precision I)^-1)

    Attributes:
        mean: dict of full name -> value, the trained weights.
        prior_precision: 1 / variance of each weight's prior, whose mean is 0.
        noise_stddev: of a normal likelihood; None for others.
        log_marginal_likelihood: of the training data, nats, approximate.
    """

    def __init__(self, model, mean, blocks, evidence, subset):
        super().__init__(model, mean)
        self._blocks, self._evidence, self._subset = blocks, evidence, subset
        self.prior_precision = evidence.prior_precision
        self.noise_stddev = evidence.noise_stddev
        self.log_marginal_likelihood = evidence.value

    def predict(self, inputs, draws=20, seed=None, batch_size=32, verbose="auto"):
        """Outputs of the linearized model under draws of its weights.

            outputs[s] = f(inputs) + J(inputs) (weights[s] - mean)

        The curvature is that of this model, not of f itself, whose outputs under draws can
        be far off. Of a last layer both are the same.

        Source: Immer et al., 2021, Improving predictions of Bayesian neural nets via local
        linearization, section 3.2.

        Args:
            inputs: as in `bayes_rl.predict`.
            draws: S, a number of draws.
            seed: as in `sample`.
            batch_size: number of inputs that the model takes at a time.
            verbose: as in `bayes_rl.predict`.

        Returns:
            [S, N, ...]: logits, or means of a normal likelihood, without its noise.
        """
        if self._subset == "last_layer":
            return super().predict(inputs, draws, seed, batch_size, verbose)
        weights = self.sample([draws], seed)
        model = _Linearized(self.model, self.mean)
        own = named_variables(model)
        changes = {
            key: weights[name] - tf.cast(self.mean[name], weights[name].dtype)
            for key, name in zip(own, self.mean, strict=True)
        }
        return predict(model, inputs, changes, None, batch_size, verbose)

    def log_prob(self, weights):
        """Log density.

        Args:
            weights: as `sample` gives them.

        Returns:
            [*sample_shape], nats.
        """
        name = next(iter(self.mean))
        is_one = np.ndim(weights[name]) == self.mean[name].ndim
        total = 0.0
        for block in self._blocks:
            changes = {
                name: (np.asarray(weights[name], np.float64) - self.mean[name]).reshape(
                    [-1, *self.mean[name].shape]
                )
                for name in block.shapes
            }
            precision = self._evidence.precision(block)
            square = np.square(block.to_basis(changes)) * precision
            axes = tuple(range(1, square.ndim))
            normal = np.sum(np.log(precision / (2.0 * math.pi)))
            total = total + 0.5 * (normal - np.sum(square, axis=axes))
        return total[0] if is_one else total

    def kl_divergence(self):
        """KL divergence from the prior, a normal of mean 0 and `prior_precision`, nats."""
        return self._evidence.kl_divergence()

    def _draws(self, count, seed):
        shapes = {name: value.shape for name, value in self.mean.items()}
        noise = standard_normals(shapes, count, seed)
        draws = {}
        for block in self._blocks:
            scaled = block.as_coordinates(noise) / np.sqrt(self._evidence.precision(block))
            draws |= block.from_basis(scaled)
        return {
            name: tf.constant(mean + draws[name], mean.dtype)
            for name, mean in self.mean.items()
        }

    def _state(self):
        arrays = {f"mean/{name}": value for name, value in self.mean.items()}
        for number, block in enumerate(self._blocks):
            arrays |= {f"{number}/{key}": x for key, x in block.arrays.items()}
        about = [[block.structure, block.shapes] for block in self._blocks]
        settings = {"subset": self._subset, "blocks": about}
        return settings | {"evidence": self._evidence.settings()}, arrays

    @classmethod
    def _from_state(cls, model, settings, arrays):
        blocks = []
        for number, (structure, shapes) in enumerate(settings["blocks"]):
            own = with_prefix(f"{number}/", arrays)
            blocks.append(STRUCTURES[structure].from_arrays(shapes, own))
        mean = with_prefix("mean/", arrays)
        evidence = Evidence(blocks, mean, **settings["evidence"])
        return cls(model, mean, blocks, evidence, settings["subset"])


class _Linearized(tf.keras.Model):
    """The tangent of a model at given weights, a dict of name -> array.

        outputs = f(inputs) + J(inputs) change,  J = d f / d weights

    Source: Immer et al., 2021, Improving predictions of Bayesian neural nets via local
    linearization, equation 6.
    """

    def __init__(self, model, mean):
        super().__init__(name="linearized")
        self._at = {name: tf.constant(value) for name, value in mean.items()}
        self._function = _function_of(model)
        self._changes = [
            self.add_weight(f"change_{i}", value.shape, value.dtype, trainable=False)
            for i, value in enumerate(mean.values())
        ]
        self.built = True

    def call(self, inputs, training=None):
        weights = list(self._at.values())
        # J change is the derivative by v of v' J change: loops have that twice backwards,
        # and not forwards.
        with tf.GradientTape(watch_accessed_variables=False) as outer:
            with tf.GradientTape(watch_accessed_variables=False) as inner:
                inner.watch(weights)
                outputs = self._function(inputs, dict(zip(self._at, weights, strict=True)))
            factors = tf.zeros_like(outputs)
            outer.watch(factors)
            gradients = inner.gradient(outputs, weights, factors, _ZERO)
            pairs = zip(gradients, self._changes, strict=True)
            product = tf.add_n([tf.reduce_sum(g * x) for g, x in pairs])
        return outputs + outer.gradient(product, factors, unconnected_gradients=_ZERO)


def _function_of(model):
    # A closure, as an attribute would make the model a part of this one.
    def function(inputs, weights):
        with hold(model, weights):
            return model(inputs, training=False)

    return function


def laplace(
    model,
    data,
    likelihood,
    subset="last_layer",
    structure="full",
    prior_precision=None,
    noise_stddev=None,
    batch_size=32,
):
    """Laplace's approximation of the posterior of a trained model.

        posterior = Normal(weights, (sum_n J_n' H_n J_n + prior_precision I)^-1)

    where J are the outputs' derivatives by the weights and H is the Hessian of the negative
    log likelihood by the outputs. The model is left as it is; dropout and batch
    normalization are as in predictions. What is None is chosen by the marginal likelihood

        log p(D | weights) - prior_precision |weights|^2 / 2
        + (P log prior_precision - log det(G + prior_precision I)) / 2

    With the structure "kronecker" `Dense`, `Conv1D` and `Conv2D` have a block each, and all
    other variables are independent of each other. "full" takes memory of the square of the
    number P of weights.

    Source: MacKay, 1992, A Practical Bayesian Framework for Backpropagation Networks,
    equations 2.21 and 2.22; Daxberger et al., 2021, Laplace Redux, sections 2 and 3.

    Args:
        model: trained Keras model with outputs [N, ...]: logits, or means.
        data: (inputs, targets) or a `tf.data.Dataset` of batches of them, on which it was
            trained.
        likelihood: "categorical", "bernoulli" or "normal".
        subset: "last_layer", a `Dense` without activation, or "all".
        structure: "full", "kronecker" or "diagonal".
        prior_precision: above 0; None for that of the highest marginal likelihood.
        noise_stddev: of a normal likelihood, above 0, in units of the targets; None as
            above.
        batch_size: number of examples at a time, where data are no dataset.

    Returns:
        A `Laplace`, whose `predict` is that of the linearized model.

    Raises:
        ValueError: an argument is none of these, the model has several outputs or
            stochastic weights, or its last layer is no `Dense` whose outputs are those of
            the model.

    Example:
        >>> import bayes_rl as ed
        >>> model = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=[3])])
        >>> data = np.eye(3, dtype=np.float32), np.array([0, 1, 1])
        >>> posterior = ed.inference.laplace(model, data, "categorical")
        >>> logits = posterior.predict(data[0], draws=5, seed=1)
        >>> logits.shape
        (5, 3, 2)
        >>> ed.uncertainty.mean_probabilities(ed.Categorical(logits)).shape
        TensorShape([3, 2])
    """
    check_has_no_posterior(model, "ed.inference.laplace")
    checks.one_of(_SUBSETS, subset=subset)
    checks.one_of(STRUCTURES, structure=structure)
    given = {"prior_precision": prior_precision, "noise_stddev": noise_stddev}
    checks.above_0(**{name: x for name, x in given.items() if x is not None})
    checks.one_of(LIKELIHOODS, likelihood=likelihood)
    kind = LIKELIHOODS[likelihood]()
    if noise_stddev is not None and likelihood != "normal":
        raise ValueError(f"noise_stddev is of likelihood='normal', got {likelihood!r}")
    sums = make_sums(model, subset, structure)
    facts = _summed(model, kind, sums, batches_of(data, batch_size))
    blocks = [block for each in sums for block in each.blocks(facts["examples"])]
    named = values_of(named_variables(model))
    mean = {name: named[name] for block in blocks for name in block.shapes}
    evidence = Evidence(
        blocks,
        mean,
        log_likelihood=facts["log_likelihood"],
        numbers=facts["numbers"] if likelihood == "normal" else None,
        prior_precision=prior_precision,
        noise_stddev=noise_stddev,
    )
    return Laplace(model, mean, blocks, evidence, subset)


def _summed(model, likelihood, sums, batches):
    """Lets sums see all batches; numbers of examples and targets, and log likelihood."""
    facts = {"examples": 0, "numbers": 0, "log_likelihood": 0.0}
    at_once = min(getattr(each, "examples_at_once", lambda: 2**30)() for each in sums)
    functions = {}
    for batch in batches:
        inputs, targets, _ = tf.keras.utils.unpack_x_y_sample_weight(batch)
        outputs = model(inputs, training=False)
        _check_outputs(outputs, likelihood)
        if not facts["examples"]:
            for each in sums:
                each.check(model, inputs)
        rows = rows_of(outputs)
        facts["examples"] += int(rows.shape[0])
        facts["numbers"] += int(tf.size(rows))
        log_probs = likelihood.log_prob(rows, tf.convert_to_tensor(targets))
        facts["log_likelihood"] += float(np.sum(np.asarray(log_probs, np.float64)))
        for start in range(0, rows.shape[0], at_once):
            stop = start + at_once
            part = tf.nest.map_structure(lambda x, a=start, b=stop: x[a:b], inputs)
            for each in sums:
                each.add(as_float64(_of_batch(functions, each, model, likelihood, part)))
    if not facts["examples"]:
        raise ValueError("data have no examples")
    return facts


def _of_batch(functions, sums, model, likelihood, inputs):
    if sums not in functions:
        functions[sums] = tf.function(
            lambda inputs: sums.of_batch(model, likelihood, inputs),
            autograph=False,
            reduce_retracing=True,
        )
    try:
        return functions[sums](inputs)
    except (TypeError, ValueError, NotImplementedError, tf.errors.OpError):
        if not getattr(sums, "_is_vectorized", False):
            raise
    sums.without_vectorizing()
    del functions[sums]
    return _of_batch(functions, sums, model, likelihood, inputs)


def _check_outputs(outputs, likelihood):
    if not tf.is_tensor(outputs):
        raise ValueError(
            "ed.inference.laplace takes a model of one output, got "
            f"{type(outputs).__name__}; make a tf.keras.Model of one of the outputs"
        )
    rows = rows_of(outputs)
    if likelihood.name == "categorical" and rows.shape[-1] > 1:
        is_sum = tf.reduce_all(tf.abs(tf.reduce_sum(rows, axis=-1) - 1.0) < 1e-3)
        if tf.reduce_all(rows >= 0.0) and is_sum:
            raise ValueError(
                "outputs must be logits, got probabilities; leave the softmax to the loss "
                "(from_logits=True)"
            )
