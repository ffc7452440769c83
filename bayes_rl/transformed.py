"""TransformedRandomVariable: a random variable pushed through a reversible layer."""

import tensorflow as tf
from tensorflow_probability import distributions as tfd

from bayes_rl.random_variable import RandomVariable
from bayes_rl.tracing import traceable
from bayes_rl.transformed_distribution import TransformedDistribution


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
        name: what tracers know it by.
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
    """`TransformedRandomVariable` whose value follows from that of `rv`.

    Tracers do not see it, because nothing is drawn. `layer(rv)` is this.

    Args: as in `TransformedRandomVariable`.

    Returns:
        A `RandomVariable` of a `TransformedDistribution`.
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
