"""Local reparameterization: noise on pre-activations in place of noise on the kernel."""

import tensorflow as tf

from bayes_rl.layers.convolutions.convolution import Filters
from bayes_rl.layers.dense import DenseReparameterization
from bayes_rl.layers.moments.weight_moments import draw_outputs, product_with
from bayes_rl.serialization import register


class _LocalReparameterization:
    def call(self, inputs):
        kernel = self.given(self.kernel_key)
        if kernel is not None:
            return product_with(self, inputs, kernel)
        return draw_outputs(self, inputs)


@register
class DenseLocalReparameterization(_LocalReparameterization, DenseReparameterization):
    """Dense layer that draws its pre-activations, as if each example had its own kernel.

        mean = inputs @ kernel mean + bias
        variance = inputs^2 @ kernel variance
        outputs = activation(mean + sqrt(variance) * noise)

    Each example's outputs are distributed as with a kernel of its own from the posterior,
    independently of the other examples: gradients vary least among the estimators that
    draw. The posterior must be normal with independent elements.

    A kernel that is held (`bayes_rl.hold`) or set by a tracer is used as it is, for all
    examples. A tape records the kernel, whose draw has no part in the outputs.

    Source: Kingma, Salimans and Welling, 2015, Variational Dropout and the Local
    Reparameterization Trick, equation 6.

    Args and errors: as in `DenseReparameterization`; at the first call a ValueError where a
    posterior is not normal.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> layer = ed.layers.DenseLocalReparameterization(4)
        >>> outputs = layer(tf.ones([2, 3]))
        >>> bool(tf.reduce_any(outputs[0] == outputs[1]))
        False
    """


@register
class Conv2DLocalReparameterization(
    _LocalReparameterization, Filters, tf.keras.layers.Conv2D
):
    """Convolution over images that draws its pre-activations.

        mean = convolution(inputs, kernel mean) + bias
        variance = convolution(inputs^2, kernel variance)
        outputs = activation(mean + sqrt(variance) * noise)

    Each output element has the distribution that a kernel from the posterior gives it.
    Elements at different places are drawn independently, though they share the kernel: as
    in the paper's source of lower variance, and other than `Conv2DReparameterization`.
    Otherwise as `DenseLocalReparameterization`.

    Source: Kingma, Salimans and Welling, 2015, Variational Dropout and the Local
    Reparameterization Trick, equation 6.

    Args and errors: as in `Conv2DReparameterization`; at the first call a ValueError where
    a posterior is not normal.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> layer = ed.layers.Conv2DLocalReparameterization(4, 3)
        >>> layer(tf.ones([2, 9, 9, 3])).shape
        TensorShape([2, 7, 7, 4])
    """
