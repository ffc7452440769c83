"""Layers whose kernel is scaled to a bounded spectral norm."""

import tensorflow as tf

from bayes_rl.layers.normalization.spectral_normalization_base import (
    SpectralNormalizationBase,
    calls_as,
    is_convolution,
)
from bayes_rl.serialization import register


@register
class SpectralNormalization(SpectralNormalizationBase):
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

    def _supports(self, layer):
        dense = tf.keras.layers.Dense
        is_dense = isinstance(layer, dense) and calls_as(layer, dense)
        return is_dense or is_convolution(layer)

    def _vector_shape(self, input_shape):
        del input_shape
        kernel = self.layer.kernel.shape
        return [1, kernel[:-1].num_elements()]

    def _multiply(self, u, kernel):
        return tf.matmul(u, tf.reshape(kernel, [-1, kernel.shape[-1]]))

    def _multiply_transposed(self, v, kernel):
        return tf.matmul(v, tf.reshape(kernel, [-1, kernel.shape[-1]]), transpose_b=True)


@register
class SpectralNormalizationConv2D(SpectralNormalizationBase):
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
        return is_convolution(layer, names=("Conv2D",))

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
