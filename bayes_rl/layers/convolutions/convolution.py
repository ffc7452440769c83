"""What convolutions of every kind and rank with a posterior over their kernel share."""

import tensorflow as tf

from bayes_rl.layers import products
from bayes_rl.layers.base import StochasticLayer, WeightAttribute, takes


class StandIn:
    """A Keras layer with other attributes, to be called in its place."""

    def __init__(self, layer, **attributes):
        vars(self).update(attributes, _layer=layer)

    def __getattr__(self, name):
        return getattr(self._layer, name)


class Convolution:
    """Mixin, left of `StochasticLayer` and a Keras convolution of any kind and rank.

        kernel ~ posterior
        outputs = activation(convolution(inputs, kernel) + bias)

    The convolution itself is that of the Keras layer. Inputs may have more batch axes than
    one, and a leading axis of S draws where S kernels are held.
    """

    kernel_key = "kernel"
    kernel = WeightAttribute()
    bias = WeightAttribute()

    @property
    def layout(self):
        return products.Layout(self.rank, self.data_format == "channels_first")

    def channels(self, shape):
        return shape[-2] * self.groups, shape[-1]

    def build(self, input_shape):
        super().build(input_shape)
        # Keras' transposed layers ask for one batch axis; draws are another.
        axes = self.input_spec.axes
        self.input_spec = tf.keras.layers.InputSpec(min_ndim=self.rank + 2, axes=axes)

    def call(self, inputs):
        return self.finish(self.product(inputs, self.draw(self.kernel_key)))

    def product(self, inputs, kernel):
        """Convolution with one kernel or with S, without bias and activation."""
        keras_call = super().call.__func__

        def convolution(inputs, kernel):
            linear = {"use_bias": False, "activation": None}
            return keras_call(StandIn(self, **linear, **{self.kernel_key: kernel}), inputs)

        return products.convolve(convolution, inputs, kernel, self.rank)

    def finish(self, outputs):
        if self.use_bias:
            outputs = products.add_bias(outputs, self.draw("bias"), self.layout)
        return outputs if self.activation is None else self.activation(outputs)


@takes(
    tf.keras.layers.Conv2D,
    without=["groups"],
    strides=1,
    dilation_rate=1,
    kernel_initializer="trainable_glorot_normal",
    kernel_regularizer="normal_kl_divergence",
)
class Filters(Convolution, StochasticLayer):
    """`Convolution` whose kernel mixes channels."""
