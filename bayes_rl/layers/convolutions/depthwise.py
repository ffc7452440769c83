"""Depthwise convolutions with a posterior over their kernel."""

import tensorflow as tf

from bayes_rl.layers.base import StochasticLayer, WeightAttribute, takes
from bayes_rl.layers.convolutions.convolution import Convolution
from bayes_rl.layers.flipout import Flipout
from bayes_rl.serialization import register


@takes(
    tf.keras.layers.DepthwiseConv2D,
    strides=1,
    dilation_rate=1,
    depthwise_initializer="trainable_glorot_normal",
    depthwise_regularizer="normal_kl_divergence",
)
class Depthwise(Convolution, StochasticLayer):
    kernel_key = "depthwise_kernel"
    depthwise_kernel = WeightAttribute()

    def channels(self, shape):
        return shape[-2], shape[-2] * shape[-1]


@register
class DepthwiseConv1DReparameterization(Depthwise, tf.keras.layers.DepthwiseConv1D):
    """Convolution of each channel with kernels of its own, drawn at every call.

    As `Conv1DReparameterization`, with the depthwise convolution of Keras over time,
    [N, length, channels]. Its weight is `depthwise_kernel`,
    [*kernel_size, channels, depth_multiplier].

    Source: Blundell et al., 2015, Weight Uncertainty in Neural Networks, section 3.2.

    Args:
        kernel_size: as in Keras; likewise all that are not named here.
        depth_multiplier: number of outputs of each channel.
        depthwise_initializer: posterior over the kernel; an ordinary initializer makes the
            kernel deterministic, and its KL becomes -log prior.
        depthwise_regularizer: cost of the posterior over the kernel, or None.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> layer = ed.layers.DepthwiseConv1DReparameterization(3, depth_multiplier=2)
        >>> layer(tf.ones([2, 9, 3])).shape
        TensorShape([2, 7, 6])
    """


@register
class DepthwiseConv1DFlipout(Flipout, Depthwise, tf.keras.layers.DepthwiseConv1D):
    """Convolution of each channel that flips signs of its kernels' noise by example.

    As `Conv1DFlipout`, with the depthwise convolution of Keras.

    Source: Wen et al., 2018, Flipout, section 3.

    Args: as in `DepthwiseConv1DReparameterization`.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> layer = ed.layers.DepthwiseConv1DFlipout(3, depth_multiplier=2)
        >>> layer(tf.ones([2, 9, 3])).shape
        TensorShape([2, 7, 6])
    """


@register
class DepthwiseConv2DReparameterization(Depthwise, tf.keras.layers.DepthwiseConv2D):
    """Convolution of each channel with kernels of its own, drawn at every call.

    As `Conv2DReparameterization`, with the depthwise convolution of Keras over images,
    [N, height, width, channels]. Its weight is `depthwise_kernel`,
    [*kernel_size, channels, depth_multiplier].

    Source: Blundell et al., 2015, Weight Uncertainty in Neural Networks, section 3.2.

    Args: as in `DepthwiseConv1DReparameterization`.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> layer = ed.layers.DepthwiseConv2DReparameterization(3, depth_multiplier=2)
        >>> layer(tf.ones([2, 9, 9, 3])).shape
        TensorShape([2, 7, 7, 6])
    """


@register
class DepthwiseConv2DFlipout(Flipout, Depthwise, tf.keras.layers.DepthwiseConv2D):
    """Convolution of each channel that flips signs of its kernels' noise by example.

    As `Conv2DFlipout`, with the depthwise convolution of Keras.

    Source: Wen et al., 2018, Flipout, section 3.

    Args: as in `DepthwiseConv2DReparameterization`.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> layer = ed.layers.DepthwiseConv2DFlipout(3, depth_multiplier=2)
        >>> layer(tf.ones([2, 9, 9, 3])).shape
        TensorShape([2, 7, 7, 6])
    """
