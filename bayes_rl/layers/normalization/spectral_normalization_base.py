"""SpectralNormalizationBase: power iteration, and a call with the scaled kernel."""

import tensorflow as tf

from bayes_rl.layers import products
from bayes_rl.layers.base import StochasticLayer

_CONVOLUTIONS = ("Conv1D", "Conv2D", "Conv3D")


def is_convolution(layer, names=_CONVOLUTIONS):
    """Whether a layer is a plain convolution with one group, of one of these classes."""
    bases = tuple(getattr(tf.keras.layers, name) for name in names)
    return isinstance(layer, bases) and calls_as(layer, bases[0]) and layer.groups == 1


def calls_as(layer, base):
    """Whether a layer computes what its Keras class does; a subclass may do more."""
    return type(layer).call is base.call


class SpectralNormalizationBase(tf.keras.layers.Wrapper):
    """What both wrappers share: power iteration, and a call with the scaled kernel.

    Args: as in `SpectralNormalization`.
    """

    def __init__(
        self,
        layer,
        iteration=1,
        norm_multiplier=0.95,
        training=True,
        aggregation=tf.VariableAggregation.MEAN,
        inhere_layer_name=False,
        **kwargs,
    ):
        if not self._supports(layer) or isinstance(layer, StochasticLayer):
            raise TypeError(
                f"{type(self).__name__} wraps {self._supported}, got {type(layer).__name__}"
            )
        if iteration < 1:
            raise ValueError(f"iteration must be at least 1, got {iteration}")
        if norm_multiplier <= 0:
            raise ValueError(f"norm_multiplier must be above 0, got {norm_multiplier}")
        if inhere_layer_name:
            kwargs["name"] = layer.name
        super().__init__(layer, **kwargs)
        self.iteration = iteration
        self.norm_multiplier = norm_multiplier
        self.do_power_iteration = training
        self.aggregation = tf.VariableAggregation(aggregation)
        self.inhere_layer_name = inhere_layer_name

    def build(self, input_shape):
        if not self.layer.built:
            with tf.name_scope(self.layer.name):
                self.layer.build(input_shape)
        self.u = self.add_weight(
            "u",
            self._vector_shape(tf.TensorShape(input_shape)),
            initializer=_unit_vector,
            trainable=False,
            dtype=self.layer.kernel.dtype,
            experimental_autocast=False,
            aggregation=self.aggregation,
        )
        super().build(input_shape)

    def call(self, inputs, training=None):
        """Outputs of the wrapped layer with the scaled kernel.

        Args:
            inputs: of the wrapped layer.
            training: whether to take steps of power iteration; None for the constructor's
                `training`.

        Returns:
            As from the wrapped layer.
        """
        training = self.do_power_iteration if training is None else training
        layer = self.layer
        kernel = tf.cast(self.update_weights(training=training), layer.compute_dtype)
        inputs = tf.cast(inputs, layer.compute_dtype)
        layout = products.Layout()
        if isinstance(layer, tf.keras.layers.Dense):
            outputs = products.dense(inputs, kernel)
        else:
            if layer.padding == "causal":
                inputs = tf.pad(inputs, layer._compute_causal_padding(inputs))
            outputs = layer.convolution_op(inputs, kernel)
            channels_first = layer.data_format == "channels_first"
            layout = products.Layout(layer.rank, channels_first)
        if layer.use_bias:
            bias = tf.cast(layer.bias, outputs.dtype)
            outputs = products.add_bias(outputs, bias, layout)
        return outputs if layer.activation is None else layer.activation(outputs)

    def update_weights(self, training=True):
        """Kernel scaled to the bound.

        Args:
            training: whether to take `iteration` steps of power iteration first.

        Returns:
            Tensor of the kernel's shape and in its variable's type.
        """
        # Inside of `call` a mixed policy would round the kernel before its norm is taken.
        kernel = getattr(self.layer.kernel, "_variable", self.layer.kernel)
        kernel = tf.convert_to_tensor(kernel)
        fixed, u = tf.stop_gradient(kernel), tf.convert_to_tensor(self.u)
        if training:
            for _ in range(self.iteration):
                v = _normalized(self._multiply(u, fixed))
                u = _normalized(self._multiply_transposed(v, fixed))
            self.u.assign(u)
        v = _normalized(self._multiply(u, fixed))
        norm = tf.reduce_sum(v * self._multiply(u, kernel))
        # Not min(1, bound / norm): the gradient of that is NaN for a kernel of zeros.
        bound = tf.constant(self.norm_multiplier, norm.dtype)
        return kernel * (bound / tf.maximum(norm, bound))

    def restore_weights(self):
        """The kernel before it is scaled: its variable, which no call writes to."""
        return self.layer.kernel

    def compute_output_shape(self, input_shape):
        return self.layer.compute_output_shape(input_shape)

    def get_config(self):
        return {
            **super().get_config(),
            "iteration": self.iteration,
            "norm_multiplier": self.norm_multiplier,
            "training": self.do_power_iteration,
            "aggregation": self.aggregation.value,
            "inhere_layer_name": self.inhere_layer_name,
        }


def _normalized(vector):
    return vector * tf.math.rsqrt(tf.reduce_sum(tf.square(vector)) + 1e-30)


def _unit_vector(shape, dtype=None, **kwargs):
    del kwargs
    return _normalized(tf.random.normal(shape, dtype=tf.as_dtype(dtype)))
