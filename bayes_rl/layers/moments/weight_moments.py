"""Mean and variance of a layer's product over its weights' posteriors, in place of draws.

    mean = product(inputs, kernel mean) + bias mean
    variance = product(inputs^2, kernel variance) + bias variance

which are the exact moments of product(inputs, kernel) + bias for a kernel and a bias of
independent elements. The layers have `kernel_key`, `layout`, `product(inputs, kernel)` and
`finish(outputs)` as for `flipout.Flipout`. Moments are of at least float32.
"""

import tensorflow as tf

from bayes_rl.layers import products
from bayes_rl.layers.moments.rectified import stddev_of

LINEAR = (None, tf.keras.activations.linear)


def product_with(layer, inputs, kernel):
    """Outputs for a given kernel."""
    return layer.finish(layer.product(inputs, tf.cast(kernel, layer.compute_dtype)))


def preactivation_moments(layer, inputs):
    """Mean and variance of product(inputs, kernel) + bias, of the shape of the outputs."""
    mean, variance = layer.moments(layer.kernel_key)
    inputs = tf.cast(inputs, mean.dtype)
    mean = layer.product(inputs, mean)
    return with_bias(layer, mean, layer.product(tf.square(inputs), variance))


def draw_outputs(layer, inputs):
    """Activation of product(inputs, kernel) + bias, drawn for each element on its own."""
    mean, variance = preactivation_moments(layer, inputs)
    noise = tf.random.normal(tf.shape(mean), dtype=mean.dtype)
    outputs = tf.cast(mean + stddev_of(variance) * noise, layer.compute_dtype)
    return outputs if layer.activation is None else layer.activation(outputs)


def with_bias(layer, mean, variance):
    """Adds the moments of the bias."""
    if not layer.use_bias:
        return mean, variance
    bias = layer.given("bias")
    if bias is None:
        bias, bias_variance = layer.moments("bias")
        variance = products.add_bias(variance, bias_variance, layer.layout)
    return products.add_bias(mean, tf.cast(bias, mean.dtype), layer.layout), variance
