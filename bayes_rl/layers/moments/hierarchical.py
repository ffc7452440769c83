"""Hierarchical priors over a kernel: whole units are switched off by shared scales."""

from bayes_rl.layers.arguments import arguments
from bayes_rl.layers.convolutional import Conv2DFlipout
from bayes_rl.layers.moments.at_test import AtTest
from bayes_rl.layers.moments.hierarchical_kernel import HierarchicalKernel
from bayes_rl.layers.moments.variational_dropout import DenseVariationalDropout
from bayes_rl.regularizers import HalfCauchyKLDivergence
from bayes_rl.serialization import register

GLOBAL_SCALE_PRIOR = HalfCauchyKLDivergence(scale=1e-5)


@register
class DenseHierarchical(HierarchicalKernel, DenseVariationalDropout):
    """Dense layer with a horseshoe prior, which switches inputs off.

        effective kernel[i, j] = local_scale[i] * global_scale * kernel[i, j]

    As `DenseVariationalDropout` with the effective kernel, given one draw of the scales for
    the batch. At test time the scales are drawn too (`at_test="sample"`) and, being
    half-Cauchy, are now and then huge; with `at_test="mean"` they are at their medians and
    the kernel at its mean.

    Source: Louizos, Ullrich and Welling, 2017, Bayesian Compression for Deep Learning,
    section 4.2.

    Args:
        units: as in `DenseVariationalDropout`; likewise all that are not named here.
        activation: of the outputs.
        use_bias: whether to add a bias.
        kernel_initializer: normal posterior over the kernel.
        bias_initializer: of the bias.
        local_scale_initializer: posterior over the scale of each input.
        global_scale_initializer: posterior over the scale of the layer.
        kernel_regularizer: cost of the posterior over the kernel, or None.
        bias_regularizer: likewise for the bias.
        local_scale_regularizer: likewise for the local scales.
        global_scale_regularizer: likewise for the global scale.
        activity_regularizer: of the outputs.
        local_scale_constraint: of deterministic local scales.
        global_scale_constraint: of a deterministic global scale.
        at_test: "sample" or "mean".
        **kwargs: of `tf.keras.layers.Dense`.

    Raises:
        ValueError: as in `DenseVariationalDropout`.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> layer = ed.layers.DenseHierarchical(4, at_test="mean", name="dense")
        >>> layer(tf.ones([2, 3])).shape, len(layer.losses)
        (TensorShape([2, 4]), 3)
        >>> sorted(ed.sample_weights(layer, seed=1))
        ['dense/global_scale', 'dense/kernel', 'dense/local_scale']
    """

    scaled_axis = -2

    def __init__(
        self,
        units,
        activation=None,
        use_bias=True,
        kernel_initializer="trainable_normal",
        bias_initializer="zeros",
        local_scale_initializer="trainable_half_cauchy",
        global_scale_initializer="trainable_half_cauchy",
        kernel_regularizer="normal_kl_divergence",
        bias_regularizer=None,
        local_scale_regularizer="half_cauchy_kl_divergence",
        global_scale_regularizer=GLOBAL_SCALE_PRIOR,
        activity_regularizer=None,
        local_scale_constraint="softplus",
        global_scale_constraint="softplus",
        at_test="sample",
        **kwargs,
    ):
        super().__init__(**arguments(locals()))


@register
class Conv2DHierarchical(AtTest, HierarchicalKernel, Conv2DFlipout):
    """Convolution over images with a horseshoe prior, which switches filters off.

        effective kernel[..., j] = local_scale[j] * global_scale * kernel[..., j]

    As `Conv2DFlipout` with the effective kernel, given one draw of the scales for the
    batch; at test time as `DenseHierarchical`.

    Source: Louizos, Ullrich and Welling, 2017, Bayesian Compression for Deep Learning,
    section 4.2.

    Args:
        filters: as in `Conv2DFlipout`; likewise all that are not named here.
        kernel_size: of the window.
        strides: of the window.
        padding: "valid" or "same".
        data_format: "channels_last" or "channels_first".
        dilation_rate: distance of the kernel's elements.
        activation: of the outputs.
        use_bias: whether to add a bias.
        kernel_initializer: posterior over the kernel.
        bias_initializer: of the bias.
        local_scale_initializer: posterior over the scale of each filter.
        global_scale_initializer: posterior over the scale of the layer.
        kernel_regularizer: cost of the posterior over the kernel, or None.
        bias_regularizer: likewise for the bias.
        local_scale_regularizer: likewise for the local scales.
        global_scale_regularizer: likewise for the global scale.
        activity_regularizer: of the outputs.
        kernel_constraint: of a deterministic kernel.
        bias_constraint: of a deterministic bias.
        local_scale_constraint: of deterministic local scales.
        global_scale_constraint: of a deterministic global scale.
        at_test: "sample" or "mean".
        **kwargs: of the Keras layer.

    Raises:
        ValueError: `at_test` is neither.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> layer = ed.layers.Conv2DHierarchical(4, 3, name="conv")
        >>> layer(tf.ones([2, 9, 9, 3])).shape, len(layer.losses)
        (TensorShape([2, 7, 7, 4]), 3)
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
        local_scale_initializer="trainable_half_cauchy",
        global_scale_initializer="trainable_half_cauchy",
        kernel_regularizer="normal_kl_divergence",
        bias_regularizer=None,
        local_scale_regularizer="half_cauchy_kl_divergence",
        global_scale_regularizer=GLOBAL_SCALE_PRIOR,
        activity_regularizer=None,
        kernel_constraint=None,
        bias_constraint=None,
        local_scale_constraint="softplus",
        global_scale_constraint="softplus",
        at_test="sample",
        **kwargs,
    ):
        super().__init__(**arguments(locals()))

    def train(self, inputs):
        return Conv2DFlipout.call(self, inputs)

    predict = train
