"""Conditional computation: each example's kernel is a mixture of experts' kernels."""

import copy
import functools
import math

import tensorflow as tf

from bayes_rl import checks, initializers, regularizers
from bayes_rl.layers import products
from bayes_rl.layers.base import REQUIRED, takes
from bayes_rl.layers.convolutions.convolution import Filters
from bayes_rl.layers.convolutions.depthwise import Depthwise
from bayes_rl.layers.dense import DenseReparameterization
from bayes_rl.layers.ensembles.members import align
from bayes_rl.layers.ensembles.per_example import convolve_channels_of_each, convolve_each
from bayes_rl.regularizers.base import LocationScaleKLDivergence
from bayes_rl.serialization import register


class _Conditional:
    """Mixin, left of a layer with a kernel: kernels and biases of experts.

    Weights are [num_experts, size of the expert's weight], each expert's drawn as one of
    its own. A subclass gives `mixture(inputs [..., B, *space, channels], routing_weights
    [..., B, num_experts])`, the product of each example with its mixed kernel.
    """

    own_arguments = ("num_experts",)

    def __init__(self, *, num_experts, **kwargs):
        checks.at_least_1(num_experts=num_experts)
        super().__init__(num_experts=num_experts, **kwargs)
        self._expert_shapes = {}

    def add_weight(self, name=None, shape=None, **kwargs):
        """As in `StochasticLayer`, with a row for each expert."""
        shape = tuple(tf.TensorShape(shape).as_list())
        self._expert_shapes[name] = shape
        of_experts = functools.partial(
            initializers.get_condconv_initializer,
            num_experts=self.num_experts,
            expert_shape=shape,
        )
        given = initializers.get(kwargs.pop("initializer"))
        initializer = of_experts(given)
        if isinstance(initializer, tf.keras.layers.Layer):
            self._replace_attribute(given, initializer, f"{name}_initializer")
        regularizer = regularizers.get(kwargs.pop("regularizer", None))
        return super().add_weight(
            name,
            [self.num_experts, math.prod(shape)],
            initializer=initializer,
            regularizer=_with_prior_of_experts(regularizer, of_experts),
            **kwargs,
        )

    def call(self, inputs, routing_weights):
        routing_weights = tf.cast(routing_weights, self.compute_dtype)
        if not routing_weights.shape[-1:].is_compatible_with([self.num_experts]):
            raise ValueError(
                f"routing_weights must have shape [..., {self.num_experts}], a column for "
                f"each expert, got {routing_weights.shape}"
            )
        outputs = self.mixture(inputs, routing_weights)
        if self.use_bias:
            bias = tf.matmul(routing_weights, self.draw("bias"))
            outputs += align(self, bias, outputs)
        return outputs if self.activation is None else self.activation(outputs)


def _with_prior_of_experts(regularizer, of_experts):
    """A cost whose prior's parameters, where initializers give them, are of experts."""
    if not isinstance(regularizer, LocationScaleKLDivergence):
        return regularizer
    regularizer = copy.copy(regularizer)
    for name in regularizer.parameter_names:
        value = getattr(regularizer, name)
        if isinstance(value, tf.keras.initializers.Initializer):
            setattr(regularizer, name, of_experts(value))
    return regularizer


def _mixed_convolution(layer, inputs, routing_weights, convolve):
    """Convolution with mixed kernels; `convolve` takes a kernel for each example."""
    if layer.groups != 1:
        raise ValueError(f"groups must be 1, got {layer.groups}")
    kernels = tf.matmul(routing_weights, layer.draw(layer.kernel_key))
    shape = layer._expert_shapes[layer.kernel_key]
    kernels = tf.reshape(kernels, [*products.sizes(kernels)[:-1], *shape])
    if layer.data_format == "channels_first":
        inputs = tf.einsum("...chw->...hwc", inputs)
    options = layer.strides, layer.padding, layer.dilation_rate
    outputs = convolve(inputs, kernels, *options)
    if layer.data_format == "channels_first":
        outputs = tf.einsum("...hwc->...chw", outputs)
    return outputs


@register
@takes(tf.keras.layers.Dense, after_units={"num_experts": 1})
class CondDense(_Conditional, DenseReparameterization):
    """Dense layer with a kernel of its own for each example, mixed of experts.

        kernel[n] = sum over i(routing_weights[n, i] * kernel of expert i)
        bias[n] = sum over i(routing_weights[n, i] * bias of expert i)
        outputs[n] = activation(inputs[n] @ kernel[n] + bias[n])

    The outputs of experts are mixed, which is the same and makes no kernels of examples.
    Call it on inputs [B, ..., features] and routing weights [B, num_experts], usually a
    sigmoid or softmax of the same inputs.

    Source: Yang et al., 2019, CondConv: Conditionally Parameterized Convolutions for
    Efficient Inference, equations 1 and 2.

    Args:
        units: as in `tf.keras.layers.Dense`; likewise all that are not named here.
        num_experts: number of experts, at least 1.
        use_bias: whether to add biases, [num_experts, units].
        kernel_initializer: of the kernel of each expert, [features, units]; a posterior
            over all, [num_experts, features * units], starts likewise and is drawn once a
            call.
        bias_initializer: likewise for the biases.
        kernel_constraint: of deterministic kernels, [num_experts, features * units].
        bias_constraint: of deterministic biases.

    Raises:
        ValueError: `units` or `num_experts` is below 1, `routing_weights` have not
            `num_experts` columns, or an initializer or regularizer is unknown.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> layer = ed.layers.CondDense(4, num_experts=2)
        >>> layer(tf.ones([5, 3]), tf.nn.softmax(tf.ones([5, 2]))).shape
        TensorShape([5, 4])
    """

    def mixture(self, inputs, routing_weights):
        kernels = self.draw("kernel")
        sides = [self.num_experts, *self._expert_shapes["kernel"]]
        kernels = tf.reshape(kernels, [*products.sizes(kernels)[:-2], *sides])
        # Experts side by side: [..., features, num_experts * units].
        beside = tf.concat(tf.unstack(kernels, axis=-3), axis=-1)
        outputs = self.product(inputs, beside)
        shape = [*products.sizes(outputs)[:-1], self.num_experts, self.units]
        weights = align(self, routing_weights, inputs)[..., tf.newaxis, :]
        return tf.squeeze(tf.matmul(weights, tf.reshape(outputs, shape)), axis=-2)


@register
@takes(
    tf.keras.layers.Conv2D,
    without=["groups"],
    after_kernel_size={"num_experts": REQUIRED, "batch_size": None},
)
class CondConv2D(_Conditional, Filters, tf.keras.layers.Conv2D):
    """Convolution over images with a kernel of its own for each example, mixed of experts.

        kernel[n] = sum over i(routing_weights[n, i] * kernel of expert i)
        bias[n] = sum over i(routing_weights[n, i] * bias of expert i)
        outputs[n] = activation(convolution(inputs[n], kernel[n]) + bias[n])

    Call it on inputs [B, height, width, channels] and routing weights [B, num_experts].

    Source: Yang et al., 2019, CondConv, equation 1.

    Args:
        filters: as in `tf.keras.layers.Conv2D`; likewise all that are not named here.
        kernel_size: as in Keras.
        num_experts: number of experts, at least 1.
        batch_size: unused; any batch size works.
        kernel_initializer: as in `CondDense`; likewise all of kernels and biases.

    Raises:
        ValueError: as in `CondDense`, or `groups` is given.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> layer = ed.layers.CondConv2D(4, 3, num_experts=2)
        >>> layer(tf.ones([5, 9, 9, 3]), tf.nn.softmax(tf.ones([5, 2]))).shape
        TensorShape([5, 7, 7, 4])
    """

    mixture = functools.partialmethod(_mixed_convolution, convolve=convolve_each)

    def __init__(self, *, batch_size, **kwargs):
        del batch_size  # Keras would take it for the static size of the inputs.
        super().__init__(**kwargs)


@register
@takes(
    tf.keras.layers.DepthwiseConv2D,
    without=["dilation_rate"],
    after_kernel_size={"num_experts": REQUIRED},
)
class DepthwiseCondConv2D(_Conditional, Depthwise, tf.keras.layers.DepthwiseConv2D):
    """Depthwise convolution with a kernel of its own for each example, mixed of experts.

    As `CondConv2D`, with `depth_multiplier` outputs for each channel. Its kernel is
    `depthwise_kernel`.

    Source: Yang et al., 2019, CondConv, section 3.

    Args:
        kernel_size: as in `tf.keras.layers.DepthwiseConv2D`; likewise all that are not
            named here.
        num_experts: number of experts, at least 1.
        depthwise_initializer: as `kernel_initializer` in `CondDense`; likewise all of
            kernels and biases.

    Raises:
        ValueError: as in `CondDense`.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> layer = ed.layers.DepthwiseCondConv2D(3, num_experts=2, depth_multiplier=2)
        >>> layer(tf.ones([5, 9, 9, 3]), tf.nn.softmax(tf.ones([5, 2]))).shape
        TensorShape([5, 7, 7, 6])
    """

    mixture = functools.partialmethod(
        _mixed_convolution, convolve=convolve_channels_of_each
    )
