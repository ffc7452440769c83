"""BayesianLinearModel: linear regression with an exact posterior."""

import inspect
import math
import typing

import tensorflow as tf

from bayes_rl import checks, distributions
from bayes_rl.numerics.linear_algebra import double, solve_lower
from bayes_rl.serialization import register

# Of `tf.keras.Model.fit`: how often and in which order data are seen changes no posterior.
_WITHOUT_EFFECT = ("batch_size", "epochs", "shuffle", "verbose", "max_queue_size")
_WITHOUT_EFFECT += ("workers", "use_multiprocessing")


@register
class BayesianLinearModel(tf.keras.Model):
    """Linear regression with a standard normal prior over its coefficients.

        coefficients ~ Normal(0, I),  y ~ Normal(x coefficients, noise_variance)
        posterior: Normal(mean, precision^-1)
        precision = I + x^T x / noise_variance,  mean = precision^-1 x^T y / noise_variance

    Outputs are random variables [batch], the noise-free x coefficients at each input: their
    variance is epistemic. Before `fit` they are those of the prior. There is no intercept;
    append a feature of ones for one.

    Source: Bishop, 2006, Pattern Recognition and Machine Learning, section 3.3.

    Args:
        noise_variance: of y about the line, above 0.
        **kwargs: of `tf.keras.Model`.

    Raises:
        ValueError: `noise_variance` is not above 0.

    Example:
        >>> model = BayesianLinearModel(noise_variance=1.0)
        >>> _ = model.fit(tf.ones([3, 1]), tf.constant([1.0, 2.0, 3.0]))
        >>> outputs = model(tf.ones([1, 1]))
        >>> float(outputs.mean()[0]), float(outputs.variance()[0])
        (1.5, 0.25)
    """

    def __init__(self, noise_variance, **kwargs):
        checks.above_0(noise_variance=noise_variance)
        super().__init__(**{"autocast": False, **kwargs})
        self.noise_variance = noise_variance

    def build(self, input_shape):
        features = input_shape[-1]
        options = {"trainable": False, "experimental_autocast": False}
        self.coefficients_mean = self.add_weight(
            "coefficients_mean", [features], initializer="zeros", **options
        )
        # The Cholesky factor of the precision: of what is stored, it loses least.
        self.precision_tril = self.add_weight(
            "precision_tril", [features, features], initializer="identity", **options
        )
        super().build(input_shape)

    def call(self, inputs):
        """Predictions.

        Args:
            inputs: [batch, features].

        Returns:
            Normal random variable [batch].
        """
        inputs = double(inputs)
        root = solve_lower(double(self.precision_tril), tf.transpose(inputs))
        mean = tf.linalg.matvec(inputs, double(self.coefficients_mean))
        stddev = tf.norm(root, axis=0)
        dtype = self.precision_tril.dtype
        return distributions.Normal(
            tf.cast(mean, dtype), tf.cast(stddev, dtype), name=self.name
        )

    def fit(self, x=None, y=None, *, sample_weight=None, callbacks=None, **kwargs):
        """Sets the coefficients to their exact posterior; earlier data are forgotten.

        An example of weight w counts as w examples:

            precision = I + sum of w x x^T / noise_variance

        Args:
            x: [examples, features], or batches of (x, y) or (x, y, weights): a
                `tf.data.Dataset`, `tf.keras.utils.Sequence` or generator that ends.
            y: [examples] or [examples, 1]; None where x is batches.
            sample_weight: [examples] or [examples, 1], not negative; None for 1 each, or
                where x is batches.
            callbacks: as in `tf.keras.Model.fit`, of one epoch.
            **kwargs: of `tf.keras.Model.fit`; those that tell how often and in which order
                data are seen have no effect, others are refused.

        Returns:
            `tf.keras.callbacks.History` of one epoch. Its "loss" is the negative log
            density of all y, -log p(y | x), over the sum of weights, in nats: that by which
            `noise_variance` can be chosen.

        Raises:
            ValueError: x, y and weights are not of these shapes, there are none, or numbers
                are not finite.
            TypeError: an argument is unknown, or has no meaning in a closed form.

        Example:
            >>> model = BayesianLinearModel(noise_variance=1.0)
            >>> history = model.fit(tf.ones([1, 1]), [3.0], sample_weight=[3.0])
            >>> float(model(tf.ones([1, 1])).mean()[0]), list(history.history)
            (2.25, ['loss'])
        """
        _check_arguments(kwargs)
        total = None
        for batch in _batches(x, y, sample_weight):
            part = _sums(*batch)
            total = part if total is None else total + part
        if total is None or not total.weights > 0.0:
            raise ValueError("x must have examples of weights above 0, got none")
        self._build_for(total.outer.shape[:1])
        callbacks = tf.keras.callbacks.CallbackList(
            callbacks, add_history=True, model=self, verbose=0, epochs=1, steps=1
        )
        callbacks.on_train_begin()
        callbacks.on_epoch_begin(0)
        logs = {"loss": float(self._set_posterior(total))}
        callbacks.on_epoch_end(0, logs)
        callbacks.on_train_end(logs)
        return self.history

    def _build_for(self, features):
        if not self.built:
            self.build([None, *features])
        if self.coefficients_mean.shape != features:
            raise ValueError(
                f"x must have shape [examples, {self.coefficients_mean.shape[0]}], as the "
                f"model was built for, got {features[0]} features"
            )

    def _set_posterior(self, sums):
        """Assigns the posterior; the negative log density of a target of the data, []."""
        products, right = sums.outer / self.noise_variance, sums.inner / self.noise_variance
        precision = tf.eye(right.shape[0], dtype=right.dtype) + products
        factor = tf.linalg.cholesky(precision)
        mean = tf.linalg.cholesky_solve(factor, right[:, tf.newaxis])[:, 0]
        dtype = self.precision_tril.dtype
        self.coefficients_mean.assign(tf.cast(mean, dtype))
        self.precision_tril.assign(tf.cast(factor, dtype))
        # Bishop, 2006, equation 3.86.
        log_det = 2.0 * tf.reduce_sum(tf.math.log(tf.linalg.diag_part(factor)))
        misfit = sums.squares / self.noise_variance - tf.reduce_sum(mean * right)
        constant = sums.weights * math.log(2.0 * math.pi * self.noise_variance)
        return 0.5 * (constant + log_det + misfit) / sums.weights


class _Sums(typing.NamedTuple):
    """Over examples: of w x x^T, w x y, w y^2 and w."""

    outer: tf.Tensor
    inner: tf.Tensor
    squares: tf.Tensor
    weights: tf.Tensor

    def __add__(self, other):
        if self.outer.shape != other.outer.shape:
            raise ValueError(
                "batches must have the same number of features, got "
                f"{self.outer.shape[0]} and {other.outer.shape[0]}"
            )
        return _Sums(*(one + two for one, two in zip(self, other, strict=True)))


def _sums(x, y, weights):
    x, y = double(x), _column(double(y))
    weights = tf.ones_like(y) if weights is None else _column(double(weights))
    if x.shape.rank != 2 or not y.shape.is_compatible_with(x.shape[:1]):
        raise ValueError(
            "x must have shape [examples, features] and y [examples], got "
            f"{x.shape} and {y.shape}"
        )
    if not weights.shape.is_compatible_with(y.shape):
        raise ValueError(f"sample_weight must have shape {y.shape}, got {weights.shape}")
    for name, given in {"x": x, "y": y, "sample_weight": weights}.items():
        if not tf.reduce_all(tf.math.is_finite(given)):
            raise ValueError(f"{name} must be finite, got NaN or infinity in it")
    if tf.reduce_any(weights < 0.0):
        raise ValueError(
            f"sample_weight must not be negative, got {float(tf.reduce_min(weights))}"
        )
    weighted = weights[:, tf.newaxis] * x
    return _Sums(
        tf.matmul(weighted, x, transpose_a=True),
        tf.linalg.matvec(weighted, y, transpose_a=True),
        tf.reduce_sum(weights * tf.square(y)),
        tf.reduce_sum(weights),
    )


def _column(tensor):
    return tensor[:, 0] if tensor.shape.rank == 2 and tensor.shape[1] == 1 else tensor


def _batches(x, y, sample_weight):
    """(x, y, weights or None) of each batch."""
    is_batches = isinstance(x, (tf.data.Dataset, tf.keras.utils.Sequence))
    if not is_batches and not inspect.isgenerator(x):
        if x is None or y is None:
            raise ValueError("x and y must both be given, got None")
        yield x, y, sample_weight
        return
    if y is not None or sample_weight is not None:
        raise ValueError(
            f"y and sample_weight must be in the batches of x, a {type(x).__name__}, got "
            "them beside it"
        )
    if isinstance(x, tf.data.Dataset):
        checks.finite(x)
    for batch in x:
        features, targets, weights = tf.keras.utils.unpack_x_y_sample_weight(batch)
        if targets is None:
            raise ValueError("batches must be (x, y) or (x, y, weights), got x alone")
        yield features, targets, weights


def _check_arguments(given):
    known = inspect.signature(tf.keras.Model.fit).parameters
    for name, value in given.items():
        if name not in known:
            hint = checks.did_you_mean(name, known)
            raise TypeError(f"fit has no argument {name!r}{hint}")
        if name not in _WITHOUT_EFFECT and value != known[name].default:
            raise TypeError(
                f"fit in closed form has no argument {name!r}, got {value!r}; leave it out"
            )
