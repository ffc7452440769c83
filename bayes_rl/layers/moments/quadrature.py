"""Quadrature: the mean of activations over the posterior by numerical integration."""

import numpy as np
import tensorflow as tf

from bayes_rl import checks
from bayes_rl.layers.base import takes
from bayes_rl.layers.dense import DenseReparameterization
from bayes_rl.layers.moments.rectified import stddev_of
from bayes_rl.layers.moments.weight_moments import (
    LINEAR,
    preactivation_moments,
    product_with,
)
from bayes_rl.serialization import register

_JOINT = (
    tf.keras.activations.softmax,
    tf.nn.softmax,
    tf.nn.log_softmax,
)


@register
@takes(DenseReparameterization, after_activity_regularizer={"num_points": 16})
class DenseQuadrature(DenseReparameterization):
    """Dense layer that returns the mean of its outputs over the posterior, without draws.

        mean, variance of inputs @ kernel + bias, which is normal for each example and unit
        outputs = integral of activation(x) Normal(x; mean, sqrt(variance)) dx

    The result is a Tensor, the same at every call: E[activation(inputs @ kernel + bias)],
    equal to the average of `DenseReparameterization` over infinitely many draws. Inputs
    count as constants, so of stacked layers each takes the mean of the one before; to pass
    variances on use `DenseDVI`. A kernel that is held (`bayes_rl.hold`) or set by a tracer
    is used as it is.

    The integral over weights, of as many dimensions as there are inputs, is one over
    pre-activations, because sums of normal weights are normal. It is taken by the rule of
    Gauss and Legendre, within 6 standard deviations, from both sides of zero, where
    activations such as ReLU, ELU and Leaky ReLU have their kink. With 16 points on each
    side the error is below 1e-5 standard deviations for ReLU and Leaky ReLU, wherever the
    mean is; 20 nodes of Gauss and Hermite leave 1e-2. It is so for activations that bend
    over a width of 1, such as ELU, tanh and swish, up to a standard deviation of 3, and
    below 2e-4 of a larger one.

    Source: Tran et al., 2019, Bayesian Layers: A Module for Neural Network Uncertainty,
    section 2.1; Wang and Manning, 2013, Fast Dropout Training, for the change of variables.

    Args:
        units: as in `DenseReparameterization`; posteriors must be normal.
        activation: applied to each element on its own; None or "linear" needs no integral.
        num_points: of the rule on each side of zero, at least 1.
        **kwargs: as in `DenseReparameterization`.

    Raises:
        ValueError: `num_points` is below 1; the activation mixes units, as softmax does.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> layer = ed.layers.DenseQuadrature(4, activation="tanh")
        >>> bool(tf.reduce_all(layer(tf.ones([2, 3])) == layer(tf.ones([2, 3]))))
        True
    """

    own_arguments = ("num_points",)

    def __init__(self, *, num_points, **kwargs):
        super().__init__(num_points=num_points, **kwargs)
        checks.at_least_1(num_points=num_points)
        if self.activation in _JOINT:
            raise ValueError(
                "activation of DenseQuadrature must act on each unit on its own, got "
                f"{getattr(self.activation, '__name__', self.activation)!r}; use "
                "DenseReparameterization"
            )

    def call(self, inputs):
        kernel = self.given(self.kernel_key)
        if kernel is not None:
            return product_with(self, inputs, kernel)
        mean, variance = preactivation_moments(self, inputs)
        if self.activation not in LINEAR:
            stddev = stddev_of(variance)
            mean = normal_expectation(self.activation, mean, stddev, self.num_points)
        return tf.cast(mean, self.compute_dtype)


def normal_expectation(function, mean, stddev, num_points=16):
    """Mean [...] of a function of normal variables, element by element, smooth but at zero.

    On each side of zero it is evaluated at `num_points`.
    """
    nodes, weights = (
        tf.reshape(tf.constant(x / 2, mean.dtype), [-1] + [1] * mean.shape.rank)
        for x in np.polynomial.legendre.leggauss(num_points)
    )
    zero = tf.clip_by_value(-mean / stddev, -6.0, 6.0)
    total, mass = tf.zeros_like(mean), tf.zeros_like(mean)
    for low, high in ((-6.0, zero), (zero, 6.0)):
        noise = low + (high - low) * (nodes + 0.5)
        density = (high - low) * weights * tf.exp(-0.5 * tf.square(noise))
        total += tf.reduce_sum(density * function(mean + stddev * noise), axis=0)
        mass += tf.reduce_sum(density, axis=0)
    return total / mass  # 1 if the rule were exact; so constants are
