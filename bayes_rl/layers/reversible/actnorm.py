"""ActNorm: an affine map of each channel, set by the first batch."""

import numpy as np
import tensorflow as tf

from bayes_rl.layers.reversible.base import ElementwiseAffine
from bayes_rl.numerics.linear_algebra import double
from bayes_rl.numerics.means import mean_over_replicas
from bayes_rl.serialization import register


@register
class ActNorm(ElementwiseAffine, tf.keras.layers.Layer):
    """Shifts and scales each channel, the last axis; the first batch comes out normalised.

        y = (x + bias) * exp(log_scale),  log |dx/dy| = -log_scale for each element

    The first call with examples that differ sets `bias` and `log_scale` so that its outputs
    have mean 0 and standard deviation 1 in each channel, over all replicas; from then on
    they are trained. Until then both are 0, which is what `reverse` and densities use; so
    is the log scale of a channel in which those examples do not differ. A model of
    data that is trained by `log_prob` alone takes `Reverse(ActNorm())`: there data go
    through `call`.

    The Jacobian is that of one element: densities sum it over the event of the base.

    Source: Kingma and Dhariwal, 2018, Glow: Generative Flow with Invertible 1x1
    Convolutions, section 3.1.

    Args:
        epsilon: added to the standard deviation of the first batch; None for Keras'.
        **kwargs: of `tf.keras.layers.Layer`.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> outputs = ed.layers.ActNorm()(tf.constant([[1.0], [5.0]]))
        >>> bool(tf.reduce_all(abs(outputs - [[-1.0], [1.0]]) < 1e-5))
        True
    """

    def __init__(self, epsilon=None, **kwargs):
        super().__init__(**kwargs)
        self.epsilon = tf.keras.backend.epsilon() if epsilon is None else epsilon

    def build(self, input_shape):
        options = {
            "initializer": "zeros",
            "aggregation": tf.VariableAggregation.MEAN,
            "experimental_autocast": False,
        }
        channels = tf.TensorShape(input_shape)[-1:]
        self.bias = self.add_weight("bias", channels, **options)
        self.log_scale = self.add_weight("log_scale", channels, **options)
        options["aggregation"] = tf.VariableAggregation.ONLY_FIRST_REPLICA
        self.initialized = self.add_weight(
            "initialized", [], dtype=tf.bool, trainable=False, **options
        )
        super().build(input_shape)

    def call(self, inputs):
        self._start(inputs)
        return self.affine(inputs)

    def affine(self, inputs):
        bias, log_scale = self._at(inputs)
        return (inputs + bias) * tf.exp(log_scale)

    def reverse(self, outputs):
        outputs = tf.convert_to_tensor(outputs)
        bias, log_scale = self._at(outputs)
        return outputs * tf.exp(-log_scale) - bias

    def log_det_jacobian(self, outputs):
        """Gives log |dx/dy| of each element: [..., channels]."""
        outputs = tf.convert_to_tensor(outputs)
        _, log_scale = self._at(outputs)
        return tf.broadcast_to(-log_scale, tf.shape(outputs))

    def output_variance(self, distribution):
        variance = distribution.variance()
        return tf.exp(2.0 * self._at(variance)[1]) * variance

    def _at(self, tensor):
        """Bias and log scale, in the type of a tensor; it may be the first."""
        if not self.built:
            self.build(tensor.shape)
        return [tf.cast(x, tensor.dtype) for x in (self.bias, self.log_scale)]

    def _start(self, inputs):
        """Sets the parameters by this batch unless an earlier one has."""
        channels, dtype = self.bias.shape[-1], self.bias.dtype
        flat = tf.reshape(inputs, [-1, channels])
        count = mean_over_replicas(tf.cast(tf.shape(flat)[0], tf.float64))
        initialized = tf.convert_to_tensor(self.initialized)

        def mean_of(values):
            local = tf.cond(
                initialized | (count == 0.0),
                lambda: tf.zeros([channels], tf.float64),
                lambda: tf.reduce_sum(values(), axis=0),
            )
            # Replicas must meet outside of the condition, so no assignment can be in it.
            return tf.math.divide_no_nan(mean_over_replicas(local), count)

        # The mean of equal numbers is that number only in higher precision.
        mean = mean_of(lambda: double(flat))
        stddev = tf.sqrt(mean_of(lambda: tf.math.squared_difference(double(flat), mean)))
        differs = stddev > _spacing(dtype) * tf.abs(mean)
        starts = ~initialized & tf.reduce_any(differs)
        log_scale = -tf.math.log(tf.where(differs, stddev + self.epsilon, 1.0))
        self.bias.assign(tf.where(starts, tf.cast(-mean, dtype), self.bias))
        self.log_scale.assign(tf.where(starts, tf.cast(log_scale, dtype), self.log_scale))
        self.initialized.assign(initialized | starts)


def _spacing(dtype):
    """Distance from 1 to the next number; NumPy has no `finfo` of bfloat16."""
    one = dtype.as_numpy_dtype(1)
    return float(np.nextafter(one, one + one)) - 1.0
