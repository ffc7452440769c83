"""Layers whose kernel is scaled to a bounded spectral norm."""

import tensorflow as tf

from bayes_rl import checks
from bayes_rl.layers.base import StochasticLayer
from bayes_rl.layers.convolutions.convolution import StandIn
from bayes_rl.serialization import config_of, register


@register
class SpectralNormalization(tf.keras.layers.Wrapper):
    """Dense or convolutional layer whose kernel matrix has a bounded spectral norm.

        kernel used = kernel min(1, norm_multiplier / norm),  norm = v^T kernel^T u
        steps of power iteration: v <- kernel^T u / |kernel^T u|, u <- kernel v / |kernel v|

    The kernel is taken as a matrix [-1, last axis], u and v as constants in the gradient.
    The layer's variable is read, never written. The norm is a lower bound that tightens
    with each training call, so a layer that was never trained may exceed the bound.

    Source: Miyato et al., 2018, Spectral Normalization for Generative Adversarial
    Networks, algorithm 1; the bound in place of 1: Liu et al., 2020, equation 7.

    Args:
        layer: `tf.keras.layers.Dense`, or `Conv1D` to `Conv3D` with one group.
        iteration: steps of power iteration at each training call, at least 1.
        norm_multiplier: the bound, above 0.
        training: whether calls without `training` take steps.
        aggregation: `tf.VariableAggregation` of u over replicas.
        inhere_layer_name: whether the wrapper takes the layer's name.
        **kwargs: of `tf.keras.layers.Layer`.

    Raises:
        TypeError: the layer is of another kind.
        ValueError: `iteration` or `norm_multiplier` is out of its range.

    Example:
        >>> dense = tf.keras.layers.Dense(2, kernel_initializer="identity")
        >>> layer = SpectralNormalization(dense, norm_multiplier=0.5)
        >>> layer(tf.eye(2)).numpy().round(4)
        array([[0.5, 0. ],
               [0. , 0.5]], dtype=float32)
        >>> dense.kernel.numpy()
        array([[1., 0.],
               [0., 1.]], dtype=float32)
    """

    _supported = "a Dense layer or a Conv1D, Conv2D or Conv3D layer with one group"

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
        checks.at_least_1(iteration=iteration)
        checks.above_0(norm_multiplier=norm_multiplier)
        if inhere_layer_name:
            kwargs["name"] = layer.name
        # `call` goes past the layer's own `__call__`, which would add this cost.
        kwargs.setdefault("activity_regularizer", layer.activity_regularizer)
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
        layer, dtype = self.layer, self.layer.compute_dtype
        weights = {"kernel": tf.cast(self.update_weights(training=training), dtype)}
        if layer.use_bias:
            weights["bias"] = tf.cast(layer.bias, dtype)
        return layer.call.__func__(StandIn(layer, **weights), tf.cast(inputs, dtype))

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
        values = {
            "training": self.do_power_iteration,
            "aggregation": self.aggregation.value,
        }
        return config_of(SpectralNormalization, self, **values)

    def _supports(self, layer):
        dense = tf.keras.layers.Dense
        is_dense = isinstance(layer, dense) and _calls_as(layer, dense)
        return is_dense or _is_convolution(layer)

    def _vector_shape(self, input_shape):
        del input_shape
        kernel = self.layer.kernel.shape
        return [1, kernel[:-1].num_elements()]

    def _multiply(self, u, kernel):
        return tf.matmul(u, tf.reshape(kernel, [-1, kernel.shape[-1]]))

    def _multiply_transposed(self, v, kernel):
        return tf.matmul(v, tf.reshape(kernel, [-1, kernel.shape[-1]]), transpose_b=True)


@register
class SpectralNormalizationConv2D(SpectralNormalization):
    """2-D convolution whose linear map of images has a bounded spectral norm.

    As `SpectralNormalization`, with the norm of the convolution itself: u is an image of
    the inputs' size, and steps of power iteration are convolutions and their transposes.

    Source: Gouk et al., 2021, Regularisation of Neural Networks by Enforcing Lipschitz
    Continuity, section 3.3 and algorithm 2.

    Args:
        layer: `tf.keras.layers.Conv2D` with one group.
        iteration: as in `SpectralNormalization`.
        norm_multiplier: as in `SpectralNormalization`.
        training: as in `SpectralNormalization`.
        aggregation: as in `SpectralNormalization`.
        legacy_mode: unused; for compatibility.
        **kwargs: of `tf.keras.layers.Layer`.

    Raises:
        TypeError: the layer is of another kind.
        ValueError: `iteration` or `norm_multiplier` is out of its range, or the size of the
            images is unknown.

    Example:
        >>> layer = SpectralNormalizationConv2D(tf.keras.layers.Conv2D(4, 3))
        >>> layer(tf.ones([2, 8, 8, 1])).shape
        TensorShape([2, 6, 6, 4])
    """

    _supported = "a Conv2D layer with one group"

    def __init__(
        self,
        layer,
        iteration=1,
        norm_multiplier=0.95,
        training=True,
        aggregation=tf.VariableAggregation.MEAN,
        legacy_mode=False,
        **kwargs,
    ):
        del legacy_mode
        super().__init__(layer, iteration, norm_multiplier, training, aggregation, **kwargs)

    def _supports(self, layer):
        return _is_convolution(layer, names=("Conv2D",))

    def _vector_shape(self, input_shape):
        if None in input_shape[1:]:
            raise ValueError(
                f"layer {self.name!r} needs images of a known size, got shape {input_shape}"
            )
        return [1, *input_shape[1:]]

    def _multiply(self, u, kernel):
        return self.layer.convolution_op(u, kernel)

    def _multiply_transposed(self, v, kernel):
        is_first = self.layer.data_format == "channels_first"
        return tf.nn.conv2d_transpose(
            v,
            kernel,
            self.u.shape,
            strides=self.layer.strides,
            padding=self.layer.padding.upper(),
            data_format="NCHW" if is_first else "NHWC",
            dilations=self.layer.dilation_rate,
        )


def _is_convolution(layer, names=("Conv1D", "Conv2D", "Conv3D")):
    """Whether a layer is a plain convolution with one group, of one of these classes."""
    bases = tuple(getattr(tf.keras.layers, name) for name in names)
    return isinstance(layer, bases) and _calls_as(layer, bases[0]) and layer.groups == 1


def _calls_as(layer, base):
    """Whether a layer computes what its Keras class does; a subclass may do more."""
    return type(layer).call is base.call


def _normalized(vector):
    return vector * tf.math.rsqrt(tf.reduce_sum(tf.square(vector)) + 1e-30)


def _unit_vector(shape, dtype=None, **kwargs):
    del kwargs
    return _normalized(tf.random.normal(shape, dtype=tf.as_dtype(dtype)))
