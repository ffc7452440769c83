"""Random variables pushed through reversible layers, and their distributions."""

import tensorflow as tf
import tensorflow_probability as tfp
from tensorflow_probability import distributions as tfd

from bayes_rl.random_variables.random_variable import RandomVariable
from bayes_rl.random_variables.tracing import traceable


@traceable
def TransformedRandomVariable(  # noqa: N802
    rv, reversible_layer, name=None, sample_shape=(), value=None
):
    """Random variable of a reversible layer's output, given that of its input.

    Its value is the layer's output for the value of `rv`, so both stay one draw of a
    program, unless `sample_shape` or `value` is given.

    Args:
        rv: random variable of the layer's input.
        reversible_layer: as in `TransformedDistribution`; built on the value of `rv` where
            it is not yet.
        name: its name in traces.
        sample_shape: shape of draws that do not depend on the value of `rv`.
        value: in place of a draw.

    Returns:
        A `RandomVariable` of a `TransformedDistribution`.

    Raises:
        ValueError: `rv` has fewer axes than the layer mixes.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> from bayes_rl.layers.reversible.base import ReversibleLayer
        >>> class Exp(ReversibleLayer, tf.keras.layers.Layer):
        ...     def call(self, inputs):
        ...         return tf.exp(inputs)
        ...     def reverse(self, outputs):
        ...         return tf.math.log(outputs)
        ...     def log_det_jacobian(self, outputs):
        ...         return -tf.math.log(outputs)
        >>> x = ed.Normal(0.0, 1.0)
        >>> y = Exp()(x)
        >>> bool(y == tf.exp(x))
        True
        >>> bool(abs(y.log_prob(2.0) - ed.LogNormal(0.0, 1.0).log_prob(2.0)) < 1e-6)
        True
    """
    if value is not None or tf.TensorShape(sample_shape).rank:
        distribution, _ = _transformed(rv, reversible_layer, name)
        return RandomVariable(distribution, sample_shape, value, name)
    return push(rv, reversible_layer, name)


def push(rv, reversible_layer, name=None):
    """`TransformedRandomVariable` whose value follows from that of `rv`, as `layer(rv)`.

    Tracers do not see it, because nothing is drawn.
    """
    distribution, kept = _transformed(rv, reversible_layer, name)
    return RandomVariable(
        distribution, kept, name=name, draw=lambda: reversible_layer(rv.value)
    )


def _transformed(rv, layer, name):
    """The distribution, and the sample shape that is left of the variable's."""

    def make():
        base, kept = _absorb_sample_shape(rv, layer)
        return TransformedDistribution(base, layer, name=name), kept

    made = make()
    if getattr(layer, "built", True):
        return made
    layer(rv.value)
    # Some layers know which axes they mix only when they are built.
    return make()


def _absorb_sample_shape(rv, layer):
    """Makes the last axes of a sample part of the event where the layer mixes them."""
    base = rv.distribution
    mixed = getattr(layer, "event_ndims", base.event_shape.rank)
    missing = mixed - (base.batch_shape + base.event_shape).rank
    if missing <= 0 or rv.sample_shape.rank < missing:
        return base, rv.sample_shape
    base = tfd.Independent(base, base.batch_shape.rank)
    split = rv.sample_shape.rank - missing
    return tfd.Sample(base, rv.sample_shape[split:]), rv.sample_shape[:split]


class TransformedDistribution(tfd.Distribution):
    """Distribution of layer(x), where x is drawn from `base` and the layer is reversible.

        log p(y) = log p_base(layer.reverse(y)) + layer.log_det_jacobian(y)

    with the log determinant taken at the output, log |dx/dy|. A layer that mixes the last
    `event_ndims` axes makes these axes of `base` one event; what it changes element by
    element (`event_ndims` 0) is summed over the event of `base`.

    `mean`, `variance` and `mode` exist where the layer has `output_mean`, `output_variance`
    and `output_mode`; `cdf` and `quantile` where the layer and `base` work element by
    element; `entropy` where `is_constant_jacobian`.

    Source: Tran et al., 2019, Bayesian Layers: A Module for Neural Network Uncertainty,
    section 2.4; Dinh et al., 2017, Density Estimation Using Real NVP, equation 3.

    Args:
        base: TFP distribution of the layer's input.
        reversible_layer: built layer with `call`, `reverse` and `log_det_jacobian`; see
            `bayes_rl.layers.reversible.base.ReversibleLayer`.
        name: of the distribution.

    Raises:
        ValueError: `base` has fewer axes than the layer mixes.
    """

    def __init__(self, base, reversible_layer, name=None):
        parameters = dict(locals())
        mixed = getattr(reversible_layer, "event_ndims", base.event_shape.rank)
        super().__init__(
            dtype=base.dtype,
            reparameterization_type=base.reparameterization_type,
            validate_args=False,
            allow_nan_stats=base.allow_nan_stats,
            parameters=parameters,
            name=name or f"transformed_{base.name}",
        )
        self.base = _with_event_rank(base, mixed, reversible_layer)
        self.reversible_layer = reversible_layer
        self._mixed = mixed

    def _event_shape(self):
        event_shape = self.base.event_shape
        if not hasattr(self.reversible_layer, "compute_output_shape"):
            return event_shape
        # Keras asks for a shape with a batch axis in front.
        shape = tf.TensorShape([None]) + self.base.batch_shape + event_shape
        shape = tf.TensorShape(self.reversible_layer.compute_output_shape(shape))
        return shape[shape.rank - event_shape.rank :]

    def _event_shape_tensor(self):
        static = self._event_shape()
        return static if static.is_fully_defined() else self.base.event_shape_tensor()

    def _batch_shape(self):
        return self.base.batch_shape

    def _batch_shape_tensor(self, **_):
        return self.base.batch_shape_tensor()

    def _sample_n(self, n, seed=None):
        return self.reversible_layer(self.base.sample(n, seed=seed))

    def _log_prob(self, y):
        change = tf.convert_to_tensor(self.reversible_layer.log_det_jacobian(y))
        log_prob = self.base.log_prob(self.reversible_layer.reverse(y))
        expected = y.shape.rank - self._mixed
        if change.shape.rank not in (0, expected):
            raise ValueError(
                f"log_det_jacobian of layer {self.reversible_layer.name!r} must have rank "
                f"{expected} for outputs of rank {y.shape.rank} of which it mixes the last "
                f"{self._mixed} axes, got rank {change.shape.rank}; set event_ndims"
            )
        return log_prob + self._over_event(change, y, log_prob.dtype)

    def _over_event(self, change, y, dtype):
        change = sum_over_event(change, y, self._mixed, self.base.event_shape.rank)
        return tf.cast(change, dtype)

    def _cdf(self, y):
        x, increasing = self._elementwise(self.reversible_layer.reverse, y)
        return tf.where(increasing, self.base.cdf(x), self.base.survival_function(x))

    def _survival_function(self, y):
        x, increasing = self._elementwise(self.reversible_layer.reverse, y)
        return tf.where(increasing, self.base.survival_function(x), self.base.cdf(x))

    def _quantile(self, probability):
        x = self.base.quantile(probability)
        y, increasing = self._elementwise(self.reversible_layer, x)
        mirrored = self.reversible_layer(self.base.quantile(1.0 - probability))
        return tf.where(increasing, y, mirrored)

    def _elementwise(self, function, x):
        """The function's values and whether it increases."""
        if self.base.event_shape.rank:
            raise NotImplementedError(
                f"cdf and quantile exist element by element only, got an event of rank "
                f"{self.base.event_shape.rank}"
            )
        y, slope = tfp.math.value_and_gradient(function, tf.convert_to_tensor(x))
        return y, slope > 0

    def _entropy(self):
        if not getattr(self.reversible_layer, "is_constant_jacobian", False):
            raise NotImplementedError(
                f"entropy after layer {self.reversible_layer.name!r} has no closed form: "
                "its Jacobian is not constant"
            )
        shape = tf.concat([self.batch_shape_tensor(), self.event_shape_tensor()], axis=0)
        y = tf.zeros(shape, self.dtype)
        entropy = self.base.entropy()
        change = self.reversible_layer.log_det_jacobian(y)
        return entropy - self._over_event(change, y, entropy.dtype)

    def _mean(self):
        return self._moment("mean")

    def _variance(self):
        return self._moment("variance")

    def _mode(self):
        return self._moment("mode")

    def _moment(self, kind):
        moment = getattr(self.reversible_layer, f"output_{kind}", None)
        if moment is None:
            raise NotImplementedError(
                f"layer {self.reversible_layer.name!r} has no output_{kind}, so the {kind} "
                "of its output is not known"
            )
        return moment(self.base)

    def _default_event_space_bijector(self):
        return tfp.bijectors.Identity()


def sum_over_event(change, outputs, mixed, event_ndims):
    """Sums log determinants over those axes of an event that a layer does not mix.

    `change` has the shape of the outputs without the last axes that the layer mixes; or it
    is [], one that holds for each of them.
    """
    shape = tf.shape(outputs)[: outputs.shape.rank - mixed]
    return tf.reduce_sum(tf.broadcast_to(change, shape), tf.range(mixed - event_ndims, 0))


def _with_event_rank(base, rank, layer):
    missing = rank - base.event_shape.rank
    if missing <= 0:
        return base
    if base.batch_shape.rank < missing:
        raise ValueError(
            f"layer {layer.name!r} mixes the last {rank} axes of its input, got a "
            f"distribution of shape {base.batch_shape + base.event_shape}"
        )
    return tfd.Independent(base, missing)


@tfd.RegisterKL(TransformedDistribution, TransformedDistribution)
def _kl_of_one_layer(a, b, name=None):
    if a.reversible_layer is not b.reversible_layer:
        raise NotImplementedError(
            "KL of transformed distributions is known for one and the same layer, got "
            f"{a.reversible_layer.name!r} and {b.reversible_layer.name!r}"
        )
    return tfd.kl_divergence(a.base, b.base, name=name)
