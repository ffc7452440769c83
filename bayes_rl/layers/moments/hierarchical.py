"""Hierarchical priors over a kernel: whole units are switched off by shared scales."""

import functools

import tensorflow as tf

from bayes_rl import checks
from bayes_rl.layers import products
from bayes_rl.layers.base import StochasticLayer, WeightAttribute, takes
from bayes_rl.layers.convolutions.convolution import Convolution, Filters
from bayes_rl.layers.dense import DenseReparameterization
from bayes_rl.layers.flipout import Flipout
from bayes_rl.layers.moments.variational_dropout import (
    MODES,
    VariationalDropout,
    train_or_predict,
)
from bayes_rl.regularizers import HalfCauchyKLDivergence
from bayes_rl.serialization import register

GLOBAL_SCALE_PRIOR = HalfCauchyKLDivergence(scale=1e-5)
SCALES = ("local_scale", "global_scale")
_INITIALIZERS = {f"{scale}_initializer": "trainable_half_cauchy" for scale in SCALES}
_REGULARIZERS = {
    "local_scale_regularizer": "half_cauchy_kl_divergence",
    "global_scale_regularizer": GLOBAL_SCALE_PRIOR,
}
_CONSTRAINTS = {f"{scale}_constraint": "softplus" for scale in SCALES}


class _HierarchicalKernel:
    """Mixin, left of a layer with a posterior over its kernel.

        effective kernel = local_scale * global_scale * kernel

    with one local scale for each index of the kernel's axis `scaled_axis` and one global
    scale. Under half-Cauchy priors this is the horseshoe prior. Scales are drawn once for a
    call. An ordinary initializer makes a scale deterministic: its constraint is applied
    when it is used, and its cost is -log prior.

    Source: Louizos, Ullrich and Welling, 2017, Bayesian Compression for Deep Learning,
    section 4.2; Carvalho, Polson and Scott, 2010, The Horseshoe Estimator.
    """

    own_arguments = (*_INITIALIZERS, *_REGULARIZERS, *_CONSTRAINTS)
    scaled_axis = -1
    local_scale = WeightAttribute()
    global_scale = WeightAttribute()

    def build(self, input_shape):
        super().build(input_shape)
        size = self._kernel_shape()[self.scaled_axis]
        self.local_scale = self._add_scale("local_scale", [size])
        self.global_scale = self._add_scale("global_scale", [])

    def _kernel_shape(self):
        weight = self.stochastic_weights.get(self.kernel_key)
        return getattr(self, self.kernel_key).shape if weight is None else weight.shape

    def _add_scale(self, key, shape):
        initializer = getattr(self, f"{key}_initializer")
        regularizer = getattr(self, f"{key}_regularizer")
        if isinstance(initializer, tf.keras.layers.Layer):
            return self.add_weight(
                key, shape, initializer=initializer, regularizer=regularizer
            )
        if regularizer is not None:
            self.add_loss(functools.partial(self._cost_of_scale, key, regularizer))
        return self.add_weight(key, shape, initializer=initializer)

    def _cost_of_scale(self, key, regularizer):
        return self.scaled(regularizer(self._scale(key))) if self.trainable else None

    def _scale(self, key):
        value = tf.cast(self._draw(key)[0], self._parameter_dtype())
        constraint = getattr(self, f"{key}_constraint")
        if key in self.stochastic_weights or constraint is None:
            return value
        return constraint(value)

    def scale(self):
        """Factor of the kernel, which broadcasts to it or to S kernels."""
        local, everywhere = (self._scale(key) for key in SCALES)
        local = local * everywhere[..., None]
        rank = len(self._kernel_shape())
        after = -1 - self.scaled_axis
        before = rank - 1 - after
        leading = products.sizes(local)[:-1]
        return tf.reshape(local, [*leading, *[1] * before, -1, *[1] * after])

    def given(self, key):
        weight = super().given(key)
        return weight if weight is None else self._scaled(key, weight)

    def moments(self, key):
        mean, variance = super().moments(key)
        if key != self.kernel_key:
            return mean, variance
        scale = self.scale()
        return mean * scale, variance * tf.square(scale)

    def draw(self, key):
        return self._scaled(key, super().draw(key))

    def draw_perturbation(self, key):
        mean, perturbation = super().draw_perturbation(key)
        if perturbation is None:
            return self._scaled(key, mean), None
        scale = self.scale()
        return _times(mean, scale), _times(perturbation, scale)

    def _scaled(self, key, weight):
        return _times(weight, self.scale()) if key == self.kernel_key else weight


def _times(weight, scale):
    return tf.cast(tf.cast(weight, scale.dtype) * scale, weight.dtype)


@register
@takes(
    DenseReparameterization,
    after_bias_initializer=_INITIALIZERS,
    after_bias_regularizer=_REGULARIZERS,
    after_activity_regularizer={**_CONSTRAINTS, "at_test": "sample"},
)
class DenseHierarchical(_HierarchicalKernel, VariationalDropout, DenseReparameterization):
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
        local_scale_initializer: posterior over the scale of each input.
        global_scale_initializer: posterior over the scale of the layer.
        local_scale_regularizer: cost of the posterior over the local scales, or None.
        global_scale_regularizer: likewise for the global scale.
        local_scale_constraint: of deterministic local scales.
        global_scale_constraint: of a deterministic global scale.
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


@register
@takes(
    Filters,
    strides=(1, 1),
    dilation_rate=(1, 1),
    after_bias_initializer=_INITIALIZERS,
    after_bias_regularizer=_REGULARIZERS,
    after_bias_constraint={**_CONSTRAINTS, "at_test": "sample"},
)
class Conv2DHierarchical(
    _HierarchicalKernel,
    Flipout,
    Convolution,
    StochasticLayer,
    tf.keras.layers.Conv2D,
):
    """Convolution over images with a horseshoe prior, which switches filters off.

        effective kernel[..., j] = local_scale[j] * global_scale * kernel[..., j]

    As `Conv2DFlipout` with the effective kernel, given one draw of the scales for the
    batch; at test time as `DenseHierarchical`.

    Source: Louizos, Ullrich and Welling, 2017, Bayesian Compression for Deep Learning,
    section 4.2.

    Args:
        filters: as in `Conv2DFlipout`; likewise all of convolutions.
        local_scale_initializer: posterior over the scale of each filter.
        global_scale_initializer: as in `DenseHierarchical`; likewise all others.

    Raises:
        ValueError: `at_test` is neither.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> layer = ed.layers.Conv2DHierarchical(4, 3, name="conv")
        >>> layer(tf.ones([2, 9, 9, 3])).shape, len(layer.losses)
        (TensorShape([2, 7, 7, 4]), 3)
    """

    own_arguments = ("at_test",)

    def __init__(self, *, at_test, **kwargs):
        checks.one_of(MODES, at_test=at_test)
        super().__init__(at_test=at_test, **kwargs)

    def call(self, inputs, training=None):
        return train_or_predict(self, inputs, training)

    def train(self, inputs):
        return super().call(inputs)

    predict = train
