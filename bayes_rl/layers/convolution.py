"""What convolutions of every kind and rank with a posterior over their kernel share."""

import tensorflow as tf

from bayes_rl.layers import products
from bayes_rl.layers.arguments import arguments
from bayes_rl.layers.base import StochasticLayer, WeightAttribute


class WithKernel:
    """A Keras layer with another kernel, without bias and activation."""

    use_bias = False
    activation = None

    def __init__(self, layer, kernel):
        self._layer = layer
        setattr(self, layer.kernel_key, kernel)

    def __getattr__(self, name):
        return getattr(self._layer, name)


class StochasticConvolution(StochasticLayer):
    """Mixin, left of a Keras convolution of any kind and rank.

        kernel ~ posterior
        outputs = activation(convolution(inputs, kernel) + bias)

    The convolution itself is that of the Keras layer. Inputs may have more batch axes than
    one, and a leading axis of S draws where S kernels are held.
    """

    kernel_key = "kernel"
    bias = WeightAttribute()

    @property
    def layout(self):
        return products.Layout(self.rank, self.data_format == "channels_first")

    def build(self, input_shape):
        super().build(input_shape)
        # Keras' transposed layers ask for one batch axis; draws are another.
        axes = self.input_spec.axes
        self.input_spec = tf.keras.layers.InputSpec(min_ndim=self.rank + 2, axes=axes)

    def call(self, inputs):
        return self.finish(self.product(inputs, self.draw(self.kernel_key)))

    @tf.autograph.experimental.do_not_convert
    def product(self, inputs, kernel):
        """Convolution with one kernel or with S, without bias and activation."""
        keras_call = super().call.__func__

        def convolution(inputs, kernel):
            return keras_call(WithKernel(self, kernel), inputs)

        return products.convolve(convolution, inputs, kernel, self.rank)

    @tf.autograph.experimental.do_not_convert
    def finish(self, outputs):
        """Bias and activation."""
        if self.use_bias:
            outputs = products.add_bias(outputs, self.draw("bias"), self.layout)
        return outputs if self.activation is None else self.activation(outputs)


class StochasticFilters(StochasticConvolution):
    """`StochasticConvolution` whose kernel mixes channels: plain or transposed.

    Args:
        filters: number of channels of the outputs.
        kernel_size: as in Keras; likewise all that are not named here.
        strides: of the window.
        padding: "valid", "same" or, in one dimension, "causal".
        data_format: "channels_last" or "channels_first", which needs a GPU or XLA.
        dilation_rate: distance of the kernel's elements.
        activation: of the outputs.
        use_bias: whether to add a bias.
        kernel_initializer: posterior over the kernel; an ordinary initializer makes the
            kernel deterministic, and its KL becomes -log prior.
        bias_initializer: likewise for the bias, deterministic by default.
        kernel_regularizer: cost of the posterior over the kernel, or None.
        bias_regularizer: likewise for the bias.
        activity_regularizer: of the outputs.
        kernel_constraint: of a deterministic kernel.
        bias_constraint: of a deterministic bias.
        **kwargs: of the Keras layer, such as `groups`.
    """

    kernel = WeightAttribute()

    def __init__(
        self,
        filters,
        kernel_size,
        strides=1,
        padding="valid",
        data_format=None,
        dilation_rate=1,
        activation=None,
        use_bias=True,
        kernel_initializer="trainable_normal",
        bias_initializer="zeros",
        kernel_regularizer="normal_kl_divergence",
        bias_regularizer=None,
        activity_regularizer=None,
        kernel_constraint=None,
        bias_constraint=None,
        **kwargs,
    ):
        super().__init__(**arguments(locals()))
