"""Convolutions with a posterior over their kernel, in 1, 2 and 3 dimensions."""

import tensorflow as tf

from bayes_rl.layers.convolution import StochasticFilters
from bayes_rl.layers.flipout import Flipout
from bayes_rl.serialization import register


class _Convolution(StochasticFilters):
    def channels(self, shape):
        """Numbers of channels of inputs and of outputs for the kernel's shape."""
        return shape[-2] * self.groups, shape[-1]


@register
class Conv1DReparameterization(_Convolution, tf.keras.layers.Conv1D):
    """Convolution over time that draws one kernel from its posterior at every call.

    As `Conv2DReparameterization`, over time.

    Inputs: [N, length, channels]; outputs of rank 3 with `filters` channels.

    Source: Blundell et al., 2015, Weight Uncertainty in Neural Networks, section 3.2.

    Args: as in `convolution.StochasticFilters`.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> layer = ed.layers.Conv1DReparameterization(4, 3, name="conv")
        >>> layer(tf.ones([2, 9, 3])).shape
        TensorShape([2, 7, 4])
        >>> layer.kernel.name, len(layer.losses)
        ('conv/kernel', 1)
    """


@register
class Conv1DFlipout(Flipout, Conv1DReparameterization):
    """Convolution over time that perturbs its kernel for each example by random signs.

    As `Conv2DFlipout`, over time.

    Inputs: [N, length, channels]; outputs of rank 3 with `filters` channels.

    Source: Wen et al., 2018, Flipout: Efficient Pseudo-Independent Weight Perturbations on
    Mini-Batches, section 3.

    Args: as in `convolution.StochasticFilters`.

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
class Conv2DReparameterization(_Convolution, tf.keras.layers.Conv2D):
    """Convolution over images that draws one kernel from its posterior at every call.

        kernel ~ posterior
        outputs = activation(convolution(inputs, kernel) + bias)

    The whole batch shares the draw. Held weights (`bayes_rl.hold`) take its place.
    `losses` holds KL(posterior || prior) in nats, summed over the kernel: divide it by the
    number of training examples before adding it to a mean log likelihood.

    Inputs: [N, height, width, channels]; outputs of rank 4 with `filters` channels.

    Source: Blundell et al., 2015, Weight Uncertainty in Neural Networks, section 3.2.

    Args: as in `convolution.StochasticFilters`.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> layer = ed.layers.Conv2DReparameterization(4, 3, name="conv")
        >>> layer(tf.ones([2, 9, 9, 3])).shape
        TensorShape([2, 7, 7, 4])
        >>> layer.kernel.name, len(layer.losses)
        ('conv/kernel', 1)
    """


@register
class Conv2DFlipout(Flipout, Conv2DReparameterization):
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

    Args: as in `convolution.StochasticFilters`.

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
class Conv3DReparameterization(_Convolution, tf.keras.layers.Conv3D):
    """Convolution over volumes that draws one kernel from its posterior at every call.

    As `Conv2DReparameterization`, over volumes.

    Inputs: [N, depth, height, width, channels]; outputs of rank 5 with `filters` channels.

    Source: Blundell et al., 2015, Weight Uncertainty in Neural Networks, section 3.2.

    Args: as in `convolution.StochasticFilters`.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> layer = ed.layers.Conv3DReparameterization(4, 3, name="conv")
        >>> layer(tf.ones([2, 9, 9, 9, 3])).shape
        TensorShape([2, 7, 7, 7, 4])
        >>> layer.kernel.name, len(layer.losses)
        ('conv/kernel', 1)
    """


@register
class Conv3DFlipout(Flipout, Conv3DReparameterization):
    """Convolution over volumes that perturbs its kernel for each example by random signs.

    As `Conv2DFlipout`, over volumes.

    Inputs: [N, depth, height, width, channels]; outputs of rank 5 with `filters` channels.

    Source: Wen et al., 2018, Flipout: Efficient Pseudo-Independent Weight Perturbations on
    Mini-Batches, section 3.

    Args: as in `convolution.StochasticFilters`.

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
