"""Heteroscedastic output whose noise is independent for each class."""

import tensorflow as tf
from tensorflow_probability import distributions as tfd

from bayes_rl.layers.outputs.heteroscedastic_base import (
    LEAST_SCALE,
    MCSoftmaxOutputLayerBase,
)
from bayes_rl.serialization import register


@register
class MCSoftmaxDense(MCSoftmaxOutputLayerBase):
    """Heteroscedastic softmax output with independent noise on each logit.

        latents = inputs @ kernel + bias + scale * noise
        scale = softplus(inputs @ other kernel + bias) + 0.001
        probs = E[softmax(latents / temperature)]

    Source: Collier et al., 2020, section 3.

    Args and returns: as in `MCSoftmaxOutputLayerBase`.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> layer = ed.layers.MCSoftmaxDense(3, test_mc_samples=100)
        >>> logits, log_probs, probs, _ = layer(tf.ones([2, 5]), training=False, seed=1)
        >>> probs.shape
        TensorShape([2, 3])
    """

    def __init__(self, num_classes, logit_noise=tfd.Normal, *args, **kwargs):
        super().__init__(num_classes, logit_noise, *args, **kwargs)
        self.loc_layer = self.add_projection("loc", self.num_latents)
        self.scale_layer = self.add_projection("scale", self.num_latents)

    def _compute_scale_param(self, inputs):
        raw = self.project(self.scale_layer, inputs, self.num_latents)
        return tf.nn.softplus(raw) + tf.cast(LEAST_SCALE, raw.dtype)

    def _compute_noise_samples(self, scale, num_samples, seed):
        noise = self.standard_noise(scale, num_samples, self.num_latents, seed)
        return scale[..., tf.newaxis, :] * noise

    def get_config(self):
        return {**super().get_config(), "logit_noise": self.logit_noise.__name__}
