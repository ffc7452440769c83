"""HierarchicalKernel: scales that parts of a kernel share."""

import functools

import tensorflow as tf

from bayes_rl import constraints, initializers, regularizers
from bayes_rl.layers.base import WeightAttribute
from bayes_rl.serialization import serialize

SCALES = ("local_scale", "global_scale")


class HierarchicalKernel:
    """Mixin, left of a layer with a posterior over its kernel.

        effective kernel = local_scale * global_scale * kernel

    with one local scale for each index of the kernel's axis `scaled_axis` and one global
    scale. Under half-Cauchy priors this is the horseshoe prior. Scales are drawn once for a
    call. An ordinary initializer makes a scale deterministic: its constraint is applied
    when it is used, and its cost is -log prior.

    Source: Louizos, Ullrich and Welling, 2017, Bayesian Compression for Deep Learning,
    section 4.2; Carvalho, Polson and Scott, 2010, The Horseshoe Estimator.
    """

    scaled_axis = -1
    local_scale = WeightAttribute()
    global_scale = WeightAttribute()

    def __init__(self, *args, **kwargs):
        get = {
            "initializer": initializers.get,
            "regularizer": regularizers.get,
            "constraint": constraints.get,
        }
        options = {
            f"{scale}_{kind}": find(kwargs.pop(f"{scale}_{kind}"))
            for scale in SCALES
            for kind, find in get.items()
        }
        super().__init__(*args, **kwargs)
        for name, value in options.items():
            setattr(self, name, value)

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

    @tf.autograph.experimental.do_not_convert
    def scale(self):
        """Factor of the kernel, which broadcasts to it or to S kernels."""
        local, everywhere = (self._scale(key) for key in SCALES)
        local = local * everywhere[..., None]
        rank = len(self._kernel_shape())
        after = -1 - self.scaled_axis
        before = rank - 1 - after
        leading = local.shape.as_list()[:-1]
        return tf.reshape(local, [*leading, *[1] * before, -1, *[1] * after])

    def given(self, key):
        weight = super().given(key)
        return weight if weight is None else self._scaled(key, weight)

    def posterior_moments(self, key):
        mean, variance = super().posterior_moments(key)
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

    def get_config(self):
        names = [
            f"{scale}_{kind}"
            for scale in SCALES
            for kind in ("initializer", "regularizer", "constraint")
        ]
        own = {name: serialize(getattr(self, name)) for name in names}
        return {**super().get_config(), **own}


def _times(weight, scale):
    return tf.cast(tf.cast(weight, scale.dtype) * scale, weight.dtype)
