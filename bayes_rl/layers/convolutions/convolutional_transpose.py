"""Transposed convolutions with a posterior over their kernel: decoders' layers."""

import tensorflow as tf

from bayes_rl.layers.base import StochasticLayer, takes
from bayes_rl.layers.convolutions.convolution import Convolution
from bayes_rl.layers.flipout import Flipout
from bayes_rl.serialization import register


@takes(
    tf.keras.layers.Conv2DTranspose,
    strides=1,
    dilation_rate=1,
    kernel_initializer="trainable_glorot_normal",
    kernel_regularizer="normal_kl_divergence",
)
class _Transposed(Convolution, StochasticLayer):
    def channels(self, shape):
        return shape[-1], shape[-2]


@register
class Conv1DTransposeReparameterization(_Transposed, tf.keras.layers.Conv1DTranspose):
    """Transposed convolution over time that draws one kernel at every call.

    As `Conv1DReparameterization`, with the transposed convolution of Keras, the linear map
    that is the gradient of a convolution. Its kernel is [*kernel_size, filters, channels].
    Inputs: [N, length, channels].

    Source: Blundell et al., 2015, Weight Uncertainty in Neural Networks, section 3.2.

    Args: as in `Conv2DReparameterization`, with Keras' `output_padding` after `padding`.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> layer = ed.layers.Conv1DTransposeReparameterization(4, 2, strides=2)
        >>> layer(tf.ones([2, 4, 3])).shape
        TensorShape([2, 8, 4])
    """


@register
class Conv1DTransposeFlipout(Flipout, _Transposed, tf.keras.layers.Conv1DTranspose):
    """Transposed convolution over time that flips its kernel's noise by example.

    As `Conv1DFlipout`, with the transposed convolution of Keras.

    Source: Wen et al., 2018, Flipout, section 3.

    Args: as in `Conv1DTransposeReparameterization`.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> layer = ed.layers.Conv1DTransposeFlipout(4, 2, strides=2)
        >>> layer(tf.ones([2, 4, 3])).shape
        TensorShape([2, 8, 4])
    """


@register
class Conv2DTransposeReparameterization(_Transposed, tf.keras.layers.Conv2DTranspose):
    """Transposed convolution over images that draws one kernel at every call.

    As `Conv2DReparameterization`, with the transposed convolution of Keras, the linear map
    that is the gradient of a convolution. Its kernel is [*kernel_size, filters, channels].
    Inputs: [N, height, width, channels].

    Source: Blundell et al., 2015, Weight Uncertainty in Neural Networks, section 3.2.

    Args: as in `Conv2DReparameterization`, with Keras' `output_padding` after `padding`.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> layer = ed.layers.Conv2DTransposeReparameterization(4, 2, strides=2)
        >>> layer(tf.ones([2, 4, 4, 3])).shape
        TensorShape([2, 8, 8, 4])
    """


@register
class Conv2DTransposeFlipout(Flipout, _Transposed, tf.keras.layers.Conv2DTranspose):
    """Transposed convolution over images that flips its kernel's noise by example.

    As `Conv2DFlipout`, with the transposed convolution of Keras.

    Source: Wen et al., 2018, Flipout, section 3.

    Args: as in `Conv2DTransposeReparameterization`.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> layer = ed.layers.Conv2DTransposeFlipout(4, 2, strides=2)
        >>> layer(tf.ones([2, 4, 4, 3])).shape
        TensorShape([2, 8, 8, 4])
    """


@register
class Conv3DTransposeReparameterization(_Transposed, tf.keras.layers.Conv3DTranspose):
    """Transposed convolution over volumes that draws one kernel at every call.

    As `Conv3DReparameterization`, with the transposed convolution of Keras, the linear map
    that is the gradient of a convolution. Its kernel is [*kernel_size, filters, channels].
    Inputs: [N, depth, height, width, channels].

    Source: Blundell et al., 2015, Weight Uncertainty in Neural Networks, section 3.2.

    Args: as in `Conv2DReparameterization`, with Keras' `output_padding` after `padding`.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> layer = ed.layers.Conv3DTransposeReparameterization(4, 2, strides=2)
        >>> layer(tf.ones([2, 4, 4, 4, 3])).shape
        TensorShape([2, 8, 8, 8, 4])
    """


@register
class Conv3DTransposeFlipout(Flipout, _Transposed, tf.keras.layers.Conv3DTranspose):
    """Transposed convolution over volumes that flips its kernel's noise by example.

    As `Conv3DFlipout`, with the transposed convolution of Keras.

    Source: Wen et al., 2018, Flipout, section 3.

    Args: as in `Conv3DTransposeReparameterization`.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> layer = ed.layers.Conv3DTransposeFlipout(4, 2, strides=2)
        >>> layer(tf.ones([2, 4, 4, 4, 3])).shape
        TensorShape([2, 8, 8, 8, 4])
    """
