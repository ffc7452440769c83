"""Variational dropout: a dropout rate for each weight, learnt."""

import tensorflow as tf
from tensorflow_probability import distributions as tfd

from bayes_rl import checks
from bayes_rl.layers.base import takes
from bayes_rl.layers.convolutions.convolution import Filters
from bayes_rl.layers.dense import DenseReparameterization
from bayes_rl.layers.moments.rectified import stddev_of
from bayes_rl.layers.moments.weight_moments import (
    LINEAR,
    draw_outputs,
    preactivation_moments,
    product_with,
)
from bayes_rl.random_variables.random_variable import RandomVariable
from bayes_rl.random_variables.tracing import is_tracing
from bayes_rl.serialization import register
from bayes_rl.weights import held, hold, mean_weights

MODES = ("sample", "mean")  # at test time


def train_or_predict(layer, inputs, training):
    """`layer.train(inputs)` or `layer.predict(inputs)`.

    The latter draws the weights anew or, with `layer.at_test == "mean"`, runs while the
    posteriors' means (of half-Cauchy posteriors, which have none, the medians) are held.
    Weights that are held already stay so, and a tracer sees them drawn.
    """
    if not tf.is_tensor(training):
        return layer.train(inputs) if training else _predict(layer, inputs)

    def tensor(outputs):
        return tf.cast(tf.convert_to_tensor(outputs), layer.compute_dtype)

    return tf.cond(
        training,
        lambda: tensor(layer.train(inputs)),
        lambda: tensor(_predict(layer, inputs)),
    )


def _predict(layer, inputs):
    is_set = is_tracing() or held(layer, layer.kernel_key) is not None
    if layer.at_test == "sample" or is_set:
        return layer.predict(inputs)
    with hold(layer, mean_weights(layer)):
        return layer.predict(inputs)


class VariationalDropout:
    """Mixin, left of a layer with a normal posterior over its kernel.

    Source: Kingma, Salimans and Welling, 2015, Variational Dropout and the Local
    Reparameterization Trick, section 3; Molchanov, Ashukha and Vetrov, 2017, Variational
    Dropout Sparsifies Deep Neural Networks, sections 4.2 and 4.3.
    """

    own_arguments = ("at_test",)

    def __init__(self, *, at_test, **kwargs):
        checks.one_of(MODES, at_test=at_test)
        super().__init__(at_test=at_test, **kwargs)

    def call(self, inputs, training=None):
        return train_or_predict(self, inputs, training)

    def train(self, inputs):
        kernel = self.given(self.kernel_key)
        if kernel is not None:
            return product_with(self, inputs, kernel)
        if self.activation not in LINEAR:
            return draw_outputs(self, inputs)
        mean, variance = preactivation_moments(self, inputs)
        return RandomVariable(tfd.Normal(mean, stddev_of(variance)))

    def predict(self, inputs):
        return product_with(self, inputs, self.draw(self.kernel_key))

    def log_alpha(self):
        """Logarithm of each weight's dropout rate alpha = variance / mean^2.

        Weights with a log alpha above 3 hardly matter and can be set to 0.

        Returns:
            [*shape of the kernel].
        """
        mean, variance = self.moments(self.kernel_key)
        return tf.math.log(variance) - tf.math.log(tf.square(mean))


@register
@takes(
    DenseReparameterization,
    kernel_regularizer="log_uniform_kl_divergence",
    after_activity_regularizer={"at_test": "sample"},
)
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
        kernel_initializer: normal posterior over the kernel.
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


@register
@takes(
    Filters,
    strides=(1, 1),
    dilation_rate=(1, 1),
    kernel_regularizer="log_uniform_kl_divergence",
    after_bias_constraint={"at_test": "sample"},
)
class Conv2DVariationalDropout(VariationalDropout, Filters, tf.keras.layers.Conv2D):
    """Convolution over images with a learnt dropout rate for each weight.

    As `DenseVariationalDropout`, with convolutions of the inputs with the kernel's mean and
    of their squares with its variance. Elements of the training outputs at different places
    are drawn independently, though they share the kernel.

    Source: as of `DenseVariationalDropout`; Molchanov et al., 2017, equation 17.

    Args:
        filters: as in `Conv2DReparameterization`; likewise all that are not named here.
        kernel_initializer: normal posterior over the kernel.
        at_test: "sample" or "mean".

    Raises:
        ValueError: as in `DenseVariationalDropout`.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> layer = ed.layers.Conv2DVariationalDropout(4, 3)
        >>> layer(tf.ones([2, 9, 9, 3]), training=True).mean().shape
        TensorShape([2, 7, 7, 4])
    """
