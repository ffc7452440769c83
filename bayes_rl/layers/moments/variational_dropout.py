"""Variational dropout: a dropout rate for each weight, learnt."""

import tensorflow as tf
from tensorflow_probability import distributions as tfd

from bayes_rl.layers.arguments import arguments
from bayes_rl.layers.convolutional import Conv2DReparameterization
from bayes_rl.layers.dense import DenseReparameterization
from bayes_rl.layers.moments.at_test import AtTest
from bayes_rl.layers.moments.local_reparameterization import LocalReparameterization
from bayes_rl.layers.moments.rectified import stddev_of
from bayes_rl.random_variable import RandomVariable
from bayes_rl.serialization import register


class VariationalDropout(AtTest, LocalReparameterization):
    """Mixin, left of a layer with a normal posterior over its kernel.

    Source: Kingma, Salimans and Welling, 2015, Variational Dropout and the Local
    Reparameterization Trick, section 3; Molchanov, Ashukha and Vetrov, 2017, Variational
    Dropout Sparsifies Deep Neural Networks, sections 4.2 and 4.3.
    """

    def train(self, inputs):
        kernel = self.given(self.kernel_key)
        if kernel is not None:
            return self.product_with(inputs, kernel)
        if self.activation not in (None, tf.keras.activations.linear):
            return self.activated(self.draw_preactivations(inputs))
        mean, variance = self.preactivation_moments(inputs)
        return RandomVariable(tfd.Normal(mean, stddev_of(variance)))

    def predict(self, inputs):
        return self.product_with(inputs, self.draw(self.kernel_key))

    def log_alpha(self):
        """Logarithm of each weight's dropout rate alpha = variance / mean^2.

        Weights with a log alpha above 3 hardly matter and can be set to 0.

        Returns:
            [*shape of the kernel].
        """
        mean, variance = self.posterior_moments(self.kernel_key)
        return tf.math.log(variance) - tf.math.log(tf.square(mean))


@register
class DenseVariationalDropout(VariationalDropout, DenseReparameterization):
    """Dense layer with a learnt dropout rate alpha = variance / mean^2 for each weight.

    In training it draws its pre-activations, not its kernel:

        mean = inputs @ kernel mean + bias
        variance = inputs^2 @ kernel variance
        outputs = activation(mean + sqrt(variance) * noise)

    and returns the random variable Normal(mean, sqrt(variance)) of at least float32 where
    it has no activation. Otherwise, as at test time, one kernel is drawn for the batch
    (`at_test="sample"`) or the posterior means are used (`at_test="mean"`, the method's own
    way). A kernel that is held (`bayes_rl.hold`) or set by a tracer is used at all times.
    `losses` holds the KL to a log-uniform prior, up to a constant, in nats.

    The training outputs have the posterior's own variance. The source's authors bound log
    alpha to [-8, 8] in it as well; here only the KL bounds it, so that held draws and
    training outputs belong to the same posterior.

    Source: Kingma, Salimans and Welling, 2015, Variational Dropout and the Local
    Reparameterization Trick, section 3; Molchanov, Ashukha and Vetrov, 2017, Variational
    Dropout Sparsifies Deep Neural Networks, section 4.2 and equation 14.

    Args:
        units: as in `DenseReparameterization`; likewise all that are not named here.
        activation: of the outputs.
        use_bias: whether to add a bias.
        kernel_initializer: normal posterior over the kernel.
        bias_initializer: of the bias.
        kernel_regularizer: cost of the posterior over the kernel, or None.
        bias_regularizer: likewise for the bias.
        activity_regularizer: of the outputs.
        at_test: "sample" or "mean".
        **kwargs: of `tf.keras.layers.Dense`.

    Raises:
        ValueError: `units` is below 1, `at_test` is unknown; at the first training call, a
            posterior is not normal.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> layer = ed.layers.DenseVariationalDropout(4)
        >>> layer(tf.ones([2, 3]), training=True).stddev().shape
        TensorShape([2, 4])
        >>> outputs = layer(tf.ones([2, 3]), training=False)
        >>> bool(tf.reduce_all(outputs[0] == outputs[1]))
        True
    """

    def __init__(
        self,
        units,
        activation=None,
        use_bias=True,
        kernel_initializer="trainable_normal",
        bias_initializer="zeros",
        kernel_regularizer="log_uniform_kl_divergence",
        bias_regularizer=None,
        activity_regularizer=None,
        at_test="sample",
        **kwargs,
    ):
        super().__init__(**arguments(locals()))


@register
class Conv2DVariationalDropout(VariationalDropout, Conv2DReparameterization):
    """Convolution over images with a learnt dropout rate for each weight.

    As `DenseVariationalDropout`, with convolutions of the inputs with the kernel's mean and
    of their squares with its variance. Elements of the training outputs at different places
    are drawn independently, though they share the kernel.

    Source: as of `DenseVariationalDropout`; Molchanov et al., 2017, equation 17.

    Args:
        filters: as in `Conv2DReparameterization`; likewise all that are not named here.
        kernel_size: of the window.
        strides: of the window.
        padding: "valid" or "same".
        data_format: "channels_last" or "channels_first".
        dilation_rate: distance of the kernel's elements.
        activation: of the outputs.
        use_bias: whether to add a bias.
        kernel_initializer: normal posterior over the kernel.
        bias_initializer: of the bias.
        kernel_regularizer: cost of the posterior over the kernel, or None.
        bias_regularizer: likewise for the bias.
        activity_regularizer: of the outputs.
        kernel_constraint: of a deterministic kernel.
        bias_constraint: of a deterministic bias.
        at_test: "sample" or "mean".
        **kwargs: of the Keras layer.

    Raises:
        ValueError: as in `DenseVariationalDropout`.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> layer = ed.layers.Conv2DVariationalDropout(4, 3)
        >>> layer(tf.ones([2, 9, 9, 3]), training=True).mean().shape
        TensorShape([2, 7, 7, 4])
    """

    def __init__(
        self,
        filters,
        kernel_size,
        strides=(1, 1),
        padding="valid",
        data_format=None,
        dilation_rate=(1, 1),
        activation=None,
        use_bias=True,
        kernel_initializer="trainable_normal",
        bias_initializer="zeros",
        kernel_regularizer="log_uniform_kl_divergence",
        bias_regularizer=None,
        activity_regularizer=None,
        kernel_constraint=None,
        bias_constraint=None,
        at_test="sample",
        **kwargs,
    ):
        super().__init__(**arguments(locals()))
