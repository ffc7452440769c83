"""ScaledKL: what `ed.scale_kl` finds on a layer made of layers, and configurations keep."""

import tensorflow as tf

from bayes_rl.regularizers.base import PassingScaleFactor


class ScaledKL:
    """Mixin, left of a Keras layer: a scale of the KL, which layers inside of it share.

    `StochasticLayer` has the same of its own, so that layers have one base less.

    Args:
        kl_scale: of a configuration, or the `kl_scale` of the layer that this one is part
            of; None: nobody has set one.
    """

    def __init__(self, *args, kl_scale=None, **kwargs):
        super().__init__(*args, **kwargs)
        self._kl_scale = as_scale(kl_scale)

    def get_config(self):
        return {**super().get_config(), **configuration(self.kl_scale)}

    @property
    def kl_scale(self):
        """What the costs of the layer's weights are multiplied by, see `ed.scale_kl`."""
        return self._kl_scale


def as_scale(kl_scale):
    """The scale factor of a layer that was given this `kl_scale`."""
    is_shared = isinstance(kl_scale, PassingScaleFactor)
    return kl_scale if is_shared else PassingScaleFactor(kl_scale)


def configuration(scale):
    """Of a scale factor, what is part of a layer's configuration."""
    if scale.value is None:
        return {}
    # Not `float` alone: a mirrored variable has a value on each device.
    return {"kl_scale": float(tf.keras.backend.get_value(scale.value))}
