"""WeightMoments: mean and variance of a layer's product, in place of draws."""

import tensorflow as tf
from tensorflow_probability import distributions as tfd

from bayes_rl.families import elementwise, normal_parameters
from bayes_rl.layers import products


class WeightMoments:
    """Mixin, left of a layer with a posterior over its kernel.

        mean = product(inputs, kernel mean) + bias mean
        variance = product(inputs^2, kernel variance) + bias variance

    which are the exact moments of product(inputs, kernel) + bias for a kernel and a bias
    of independent elements. The layer has `kernel_key`, `product(inputs, kernel)` and
    `finish(outputs)` as in `flipout.Flipout`. Moments are of at least float32.
    """

    def product_with(self, inputs, kernel):
        """Outputs for a given kernel."""
        kernel = tf.cast(kernel, self.compute_dtype)
        return self.finish(self.product(inputs, kernel))

    @tf.autograph.experimental.do_not_convert
    def posterior_moments(self, key):
        """Mean and variance of a weight's posterior, both of the weight's shape.

        Raises:
            ValueError: the posterior is neither normal with independent elements nor one
                point.
        """
        weight = self.stochastic_weights[key]
        posterior = weight.posterior()
        parameters = normal_parameters(posterior)
        if type(elementwise(posterior)) is tfd.Deterministic:
            parameters = elementwise(posterior).loc, tf.zeros([], posterior.dtype)
        if parameters is None:
            raise ValueError(
                f"the posterior of {weight.name!r} must be normal with independent "
                f"elements for {type(self).__name__}, got {posterior.name}; use "
                "a Reparameterization layer"
            )
        mean, stddev = (tf.broadcast_to(x, weight.shape) for x in parameters)
        return mean, tf.square(stddev)

    @tf.autograph.experimental.do_not_convert
    def preactivation_moments(self, inputs):
        """Moments of product(inputs, kernel) + bias over the posterior.

        Args:
            inputs: as in `call`.

        Returns:
            (mean, variance), both of the shape of the outputs.
        """
        mean, variance = self.posterior_moments(self.kernel_key)
        inputs = tf.cast(inputs, mean.dtype)
        mean = self.product(inputs, mean)
        variance = self.product(tf.square(inputs), variance)
        return self.with_bias(mean, variance)

    def with_bias(self, mean, variance):
        """Adds the moments of the bias."""
        if not self.use_bias:
            return mean, variance
        bias, bias_variance = self.given("bias"), None
        if bias is None:
            bias, bias_variance = self.posterior_moments("bias")
            variance = self._add_bias(variance, bias_variance)
        return self._add_bias(mean, tf.cast(bias, mean.dtype)), variance

    def _add_bias(self, outputs, bias):
        return products.add_bias(outputs, bias, self.layout)

    def activated(self, outputs):
        """Outputs in the compute type, after the activation."""
        outputs = tf.cast(outputs, self.compute_dtype)
        return outputs if self.activation is None else self.activation(outputs)
