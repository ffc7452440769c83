"""ScaledKL: what `ed.scale_kl` finds on a layer, and its configuration keeps."""

import tensorflow as tf

from bayes_rl.regularizers.base import PassingScaleFactor


class ScaledKL:
    """Mixin, left of a Keras layer: a scale of the KL, which layers inside of it share.

    Args:
        kl_scale: of a configuration, or the `kl_scale` of the layer that this one is part
            of; None: nobody has set one.
    """

    def __init__(self, *args, kl_scale=None, **kwargs):
        super().__init__(*args, **kwargs)
        is_shared = isinstance(kl_scale, PassingScaleFactor)
        self._kl_scale = kl_scale if is_shared else PassingScaleFactor(kl_scale)

    def get_config(self):
        scale = self.kl_scale.value
        # Not `float`: a mirrored variable has a value on each device.
        value = tf.keras.backend.get_value(scale)
        scaled = {} if scale is None else {"kl_scale": float(value)}
        return {**super().get_config(), **scaled}

    @property
    def kl_scale(self):
        """What the costs of the layer's weights are multiplied by, see `ed.scale_kl`."""
        return self._kl_scale
