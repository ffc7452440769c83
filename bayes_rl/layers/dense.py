"""Dense layers with a posterior over their kernel."""

import tensorflow as tf

from bayes_rl import checks
from bayes_rl.layers import products
from bayes_rl.layers.base import StochasticLayer, WeightAttribute, takes
from bayes_rl.layers.flipout import Flipout
from bayes_rl.serialization import register


@register
@takes(
    tf.keras.layers.Dense,
    kernel_initializer="trainable_glorot_normal",
    kernel_regularizer="normal_kl_divergence",
)
class DenseReparameterization(StochasticLayer, tf.keras.layers.Dense):
    """Dense layer that draws one kernel from its posterior at every call.

        kernel ~ posterior
        outputs = activation(inputs @ kernel + bias)

    The whole batch shares the draw. Held weights (`bayes_rl.hold`) take its place. Called
    twice in a pass, the layer draws twice; `bayes_rl.OneDraw(model)` draws once a call.
    `losses` holds KL(posterior || prior) in nats, summed over the kernel: divide it by the
    number of training examples before adding it to a mean log likelihood.

    Source: Blundell et al., 2015, Weight Uncertainty in Neural Networks, section 3.2.

    Args:
        units: size of the last output axis, at least 1.
        activation: as in `tf.keras.layers.Dense`.
        use_bias: whether to add a bias.
        kernel_initializer: posterior over the kernel; an ordinary initializer makes the
            kernel deterministic, and its KL becomes -log prior.
        bias_initializer: likewise for the bias, deterministic by default.
        kernel_regularizer: cost of the posterior over the kernel, or None.
        bias_regularizer: likewise for the bias.
        activity_regularizer: as in `tf.keras.layers.Dense`.
        **kwargs: of `tf.keras.layers.Dense`.

    Raises:
        ValueError: `units` is below 1, or an initializer or regularizer is unknown.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> layer = ed.layers.DenseReparameterization(4, name="dense")
        >>> layer(tf.ones([2, 3])).shape
        TensorShape([2, 4])
        >>> layer.kernel.name, len(layer.losses)
        ('dense/kernel', 1)
    """

    kernel_key = "kernel"
    layout = products.Layout()
    kernel = WeightAttribute()
    bias = WeightAttribute()

    def __init__(self, *, units, **kwargs):
        checks.at_least_1(units=units)
        super().__init__(units=units, **kwargs)

    def channels(self, shape):
        return shape

    def call(self, inputs):
        return self.finish(self.product(inputs, self.draw("kernel")))

    def product(self, inputs, kernel):
        return products.dense(inputs, kernel)

    def finish(self, outputs):
        bias = self.draw("bias") if self.use_bias else None
        return products.finish(outputs, bias, self.activation)


@register
class DenseFlipout(Flipout, DenseReparameterization):
    """Dense layer that perturbs its kernel for each example by random signs.

        kernel = mean + perturbation, one draw for the batch
        outputs = inputs @ mean + ((inputs * sign_input) @ perturbation) * sign_output

    with signs -1 or 1, independent for each example. Each example's kernel is distributed
    as the posterior, as long as that is symmetric about its mean, and those of different
    examples are uncorrelated: gradients vary less than with `DenseReparameterization`.

    Where a kernel is held with its signs, [B, ...] or [S, B, ...], example b uses sign b at
    every call; without signs the kernel is used as it is, for all examples.

    Source: Wen et al., 2018, Flipout: Efficient Pseudo-Independent Weight Perturbations on
    Mini-Batches, equation 4.

    Args and errors: as in `DenseReparameterization`.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> layer = ed.layers.DenseFlipout(4, name="dense")
        >>> outputs = layer(tf.ones([2, 3]))
        >>> sorted(ed.sample_weights(layer, seed=1, batch_size=2))
        ['dense/kernel', 'dense/kernel/sign_input', 'dense/kernel/sign_output']
    """


VariationalDense = DenseReparameterization
