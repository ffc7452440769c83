"""Convolutions with a posterior over their kernel, in 1, 2 and 3 dimensions."""

import tensorflow as tf

from bayes_rl.layers.convolutions.convolution import Filters
from bayes_rl.layers.flipout import Flipout
from bayes_rl.serialization import register


@register
class Conv1DReparameterization(Filters, tf.keras.layers.Conv1D):
    """Convolution over time that draws one kernel from its posterior at every call.

    As `Conv2DReparameterization`, over time.

    Inputs: [N, length, channels]; outputs of rank 3 with `filters` channels.

    Source: Blundell et al., 2015, Weight Uncertainty in Neural Networks, section 3.2.

    Args: as in `Conv2DReparameterization`.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> layer = ed.layers.Conv1DReparameterization(4, 3, name="conv")
        >>> layer(tf.ones([2, 9, 3])).shape
        TensorShape([2, 7, 4])
        >>> layer.kernel.name, len(layer.losses)
        ('conv/kernel', 1)
    """


@register
class Conv1DFlipout(Flipout, Filters, tf.keras.layers.Conv1D):
    """Convolution over time that perturbs its kernel for each example by random signs.

    As `Conv2DFlipout`, over time.

    Inputs: [N, length, channels]; outputs of rank 3 with `filters` channels.

    Source: Wen et al., 2018, Flipout, section 3.

    Args: as in `Conv2DReparameterization`.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> layer = ed.layers.Conv1DFlipout(4, 3, name="conv")
        >>> layer(tf.ones([2, 9, 3])).shape
        TensorShape([2, 7, 4])
        >>> weights = ed.sample_weights(layer, seed=1, batch_size=2)
        >>> weights["conv/kernel/sign_output"].shape
        TensorShape([2, 4])
    """


@register
class Conv2DReparameterization(Filters, tf.keras.layers.Conv2D):
    """Convolution over images that draws one kernel from its posterior at every call.

        kernel ~ posterior
        outputs = activation(convolution(inputs, kernel) + bias)

    The whole batch shares the draw. Held weights (`bayes_rl.hold`) take its place.
    `losses` holds KL(posterior || prior) in nats, summed over the kernel: divide it by the
    number of training examples before adding it to a mean log likelihood.

    Inputs: [N, height, width, channels]; outputs of rank 4 with `filters` channels.

    Source: Blundell et al., 2015, Weight Uncertainty in Neural Networks, section 3.2.

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

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> layer = ed.layers.Conv2DReparameterization(4, 3, name="conv")
        >>> layer(tf.ones([2, 9, 9, 3])).shape
        TensorShape([2, 7, 7, 4])
        >>> layer.kernel.name, len(layer.losses)
        ('conv/kernel', 1)
    """


@register
class Conv2DFlipout(Flipout, Filters, tf.keras.layers.Conv2D):
    """Convolution over images that perturbs its kernel for each example by random signs.

        kernel = mean + perturbation, one draw for the batch
        noise = convolution(inputs * sign_input, perturbation) * sign_output
        outputs = activation(convolution(inputs, mean) + noise + bias)

    with signs -1 or 1, independent for each example and channel and constant over space.
    Each example's kernel is distributed as the posterior, as long as that is symmetric
    about its mean, and those of different examples are uncorrelated. Where a kernel is held
    with its signs, [B, channels] or [S, B, channels], example b uses sign b at every call;
    without signs the kernel is used as it is, for all examples.

    Inputs: [N, height, width, channels]; outputs of rank 4 with `filters` channels.

    Source: Wen et al., 2018, Flipout: Efficient Pseudo-Independent Weight Perturbations on
    Mini-Batches, section 3.

    Args: as in `Conv2DReparameterization`.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> layer = ed.layers.Conv2DFlipout(4, 3, name="conv")
        >>> layer(tf.ones([2, 9, 9, 3])).shape
        TensorShape([2, 7, 7, 4])
        >>> weights = ed.sample_weights(layer, seed=1, batch_size=2)
        >>> weights["conv/kernel/sign_output"].shape
        TensorShape([2, 4])
    """


@register
class Conv3DReparameterization(Filters, tf.keras.layers.Conv3D):
    """Convolution over volumes that draws one kernel from its posterior at every call.

    As `Conv2DReparameterization`, over volumes.

    Inputs: [N, depth, height, width, channels]; outputs of rank 5 with `filters` channels.

    Source: Blundell et al., 2015, Weight Uncertainty in Neural Networks, section 3.2.

    Args: as in `Conv2DReparameterization`.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> layer = ed.layers.Conv3DReparameterization(4, 3, name="conv")
        >>> layer(tf.ones([2, 9, 9, 9, 3])).shape
        TensorShape([2, 7, 7, 7, 4])
        >>> layer.kernel.name, len(layer.losses)
        ('conv/kernel', 1)
    """


@register
class Conv3DFlipout(Flipout, Filters, tf.keras.layers.Conv3D):
    """Convolution over volumes that perturbs its kernel for each example by random signs.

    As `Conv2DFlipout`, over volumes.

    Inputs: [N, depth, height, width, channels]; outputs of rank 5 with `filters` channels.

    Source: Wen et al., 2018, Flipout, section 3.

    Args: as in `Conv2DReparameterization`.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> layer = ed.layers.Conv3DFlipout(4, 3, name="conv")
        >>> layer(tf.ones([2, 9, 9, 9, 3])).shape
        TensorShape([2, 7, 7, 7, 4])
        >>> weights = ed.sample_weights(layer, seed=1, batch_size=2)
        >>> weights["conv/kernel/sign_output"].shape
        TensorShape([2, 4])
    """


VariationalConv2D = Conv2DReparameterization
