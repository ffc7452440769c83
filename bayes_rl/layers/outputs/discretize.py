"""Discretize: the probabilities of a continuous random variable, integrated over bins."""

import inspect

import tensorflow as tf
import tensorflow_probability as tfp
from tensorflow_probability import distributions as tfd

from bayes_rl.distributions import make_random_variable
from bayes_rl.layers.precision import parameter_dtype
from bayes_rl.random_variables.random_variable import RandomVariable
from bayes_rl.serialization import register


def _log_mass(distribution, lower, upper, is_first, is_last):
    """Log of P(lower < x <= upper), the first bin open below and the last above."""
    if isinstance(distribution, tfd.MixtureSameFamily):
        arguments = [x[..., tf.newaxis] for x in (lower, upper, is_first, is_last)]
        masses = _log_mass(distribution.components_distribution, *arguments)
        logits = distribution.mixture_distribution.logits_parameter()
        return tf.reduce_logsumexp(tf.nn.log_softmax(logits) + masses, axis=-1)
    below_upper = distribution.log_cdf(upper)
    above_lower = distribution.log_survival_function(lower)
    # The smaller of the two tails keeps the difference from cancelling.
    is_right = above_lower < below_upper
    tail = tf.where(is_right, above_lower, below_upper)
    beyond = tf.where(
        is_right, distribution.log_survival_function(upper), distribution.log_cdf(lower)
    )
    # Finite: the difference of two -inf, beyond a bounded support, would be NaN.
    beyond = tf.maximum(beyond, beyond.dtype.min)
    gap = tf.maximum(tail - beyond, tail.dtype.as_numpy_dtype(1e-37))
    inside = tail + tfp.math.log1mexp(gap)
    return tf.where(is_first, below_upper, tf.where(is_last, above_lower, inside))


class Discretized(tfd.AutoCompositeTensorDistribution):
    """A continuous distribution over evenly spaced values, its mass integrated over bins.

        values = low, low + step, ..., high        step = (high - low) / (num_bins - 1)
        P(value) = F(value + step / 2) - F(value - step / 2)

    with F(-inf) = 0 below the first value and F(inf) = 1 above the last, so the
    probabilities sum to 1. Other values than these count as the nearest one.

    Source: Salimans et al., 2017, PixelCNN++, section 2.1.
    """

    def __init__(self, distribution, low, high, num_bins, name="Discretized"):
        parameters = dict(locals())
        # These names let it cross a tf.function.
        self._distribution = distribution
        self._low, self._high, self._num_bins = low, high, num_bins
        self._step = (high - low) / (num_bins - 1)
        super().__init__(
            dtype=distribution.dtype,
            reparameterization_type=tfd.NOT_REPARAMETERIZED,
            validate_args=False,
            allow_nan_stats=True,
            parameters=parameters,
            name=name,
        )

    @classmethod
    def _parameter_properties(cls, dtype, num_classes=None):
        return {"distribution": tfp.util.BatchedComponentProperties()}

    def _event_shape(self):
        return tf.TensorShape([])

    def _number(self, value):
        return tf.constant(value, self.dtype)

    def _index(self, value):
        index = tf.round((value - self._number(self._low)) / self._number(self._step))
        return tf.clip_by_value(index, 0, self._number(self._num_bins - 1))

    def _value(self, index):
        return self._number(self._low) + index * self._number(self._step)

    def nearest(self, value):
        """The values of the bins in which `value` [...] lies."""
        return self._value(self._index(tf.cast(value, self.dtype)))

    def support(self):
        """[num_bins], all values in order."""
        return self._value(tf.range(self._num_bins, dtype=self.dtype))

    def _sample_n(self, n, seed=None):
        return self.nearest(self._distribution.sample(n, seed=seed))

    def _log_prob(self, value):
        index, half = self._index(value), self._number(0.5)
        return _log_mass(
            self._distribution,
            self._value(index - half),
            self._value(index + half),
            tf.equal(index, 0),
            tf.equal(index, self._number(self._num_bins - 1)),
        )

    def log_probabilities(self):
        """[num_bins, *batch_shape], log probability of every value."""
        ones = tf.ones_like(self.batch_shape_tensor())
        shape = tf.concat([[self._num_bins], ones], 0)
        return self.log_prob(tf.reshape(self.support(), shape))

    def _finite(self):
        logits = tf.experimental.numpy.moveaxis(self.log_probabilities(), 0, -1)
        return tfd.FiniteDiscrete(self.support(), logits=logits)

    def _mean(self):
        return self._finite().mean()

    def _variance(self):
        return self._finite().variance()

    def _entropy(self):
        return self._finite().entropy()

    def _mode(self):
        return self._finite().mode()


_make_discretized = make_random_variable(Discretized)
_make_independent = make_random_variable(tfd.Independent)


@register
class Discretize(tf.keras.layers.Layer):
    """Turns a continuous random variable into one over evenly spaced values.

    Its value is the input's, moved to the nearest of the values. A Tensor is moved
    likewise and stays a Tensor, of floating type. `Discretize(x)` is short for
    `Discretize()(x)`.

    Source: Tran et al., 2019, Bayesian Layers, Figure 6 and footnote 4.

    Args:
        low: least value.
        high: greatest value, above `low`.
        num_bins: number of values, at least 2; by default those of a pixel.
        **kwargs: of `tf.keras.layers.Layer`.

    Raises:
        ValueError: `high` is not above `low`, `num_bins` is below 2, or the input's
            distribution is over vectors with dependent elements.

    Example:
        >>> import bayes_rl as ed
        >>> x = ed.layers.Discretize(0.0, 9.0, 10)(ed.Normal([2.0, 7.0], 1.0))
        >>> x.mode().numpy()
        array([2., 7.], dtype=float32)
    """

    def __new__(cls, *args, **kwargs):
        if args and (isinstance(args[0], RandomVariable) or tf.is_tensor(args[0])):
            return cls(*args[1:], **kwargs)(args[0])
        return super().__new__(cls, *args, **kwargs)

    def __init__(self, low=0.0, high=255.0, num_bins=256, **kwargs):
        if high <= low:
            raise ValueError(f"high must be above low, got low={low}, high={high}")
        if num_bins < 2:
            raise ValueError(f"num_bins must be at least 2, got {num_bins}")
        super().__init__(**kwargs)
        self.low, self.high, self.num_bins = low, high, num_bins

    def call(self, inputs):
        if not isinstance(inputs, RandomVariable):
            inputs = tf.convert_to_tensor(inputs)
            if not inputs.dtype.is_floating:
                inputs = tf.cast(inputs, parameter_dtype(self))
            return self._discretized(tfd.Deterministic(inputs)).nearest(inputs)
        base, event_rank = inputs.distribution, inputs.distribution.event_shape.rank
        if isinstance(base, tfd.Independent):
            base = base.distribution
        if base.event_shape.rank != 0:
            raise ValueError(
                "Discretize takes random variables whose elements are independent, got "
                f"{type(base).__name__} with event_shape {base.event_shape}"
            )
        value = self._discretized(base).nearest(inputs.value)
        options = {"value": value, "sample_shape": inputs.sample_shape, "name": self.name}
        if event_rank == 0:
            return _make_discretized(base, self.low, self.high, self.num_bins, **options)
        return _make_independent(self._discretized(base), event_rank, **options)

    def _discretized(self, distribution):
        return Discretized(distribution, self.low, self.high, self.num_bins)


_own = [*inspect.signature(Discretize.__init__).parameters.values()][1:]
Discretize.__signature__ = inspect.Signature(_own)  # not that of `__new__`
