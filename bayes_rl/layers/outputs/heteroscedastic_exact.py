"""Heteroscedastic output of binary labels whose probability has a closed form."""

import tensorflow as tf
from tensorflow_probability import distributions as tfd

from bayes_rl.layers.outputs.heteroscedastic_links import noise_class
from bayes_rl.layers.precision import parameter_dtype
from bayes_rl.serialization import register


@register
class ExactSigmoidDense(tf.keras.layers.Layer):
    """Probability that a latent with input-dependent noise is positive, without sampling.

        probs = P(loc + scale * noise > 0) = 1 - F(0)
        scale = softplus(inputs @ other kernel + bias) + min_scale

    Normal noise gives probs = Phi(loc / scale), logistic noise sigmoid(loc / scale): the
    limit of `MCSigmoidDenseFA` without factors at temperature 0.

    Source: Collier et al., 2020, A Simple Probabilistic Method for Deep Classification
    under Input-Dependent Label Noise, section 3.

    Args:
        num_outputs: K, number of labels, at least 1.
        logit_noise: class of a location-scale distribution in `tfp.distributions`, or its
            name.
        min_scale: not below 0.
        logits_only: whether to return the logits alone.
        dtype: of the layer.
        name: of the layer.
        **kwargs: of `tf.keras.layers.Layer`.

    Returns of a call, each [..., num_outputs]:
        `logits`, or `(logits, log_probs, probs, None)`. `training` and `seed` are taken
        for the sake of the other heteroscedastic layers.

    Raises:
        ValueError: an argument is out of its range.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> layer = ed.layers.ExactSigmoidDense(4, logits_only=True)
        >>> layer(tf.ones([2, 3])).shape
        TensorShape([2, 4])
    """

    def __init__(
        self,
        num_outputs,
        logit_noise=tfd.Normal,
        min_scale=0.01,
        logits_only=False,
        dtype=None,
        name=None,
        **kwargs,
    ):
        if num_outputs < 1:
            raise ValueError(f"num_outputs must be at least 1, got {num_outputs}")
        if min_scale < 0:
            raise ValueError(f"min_scale must not be below 0, got {min_scale}")
        super().__init__(dtype=dtype, name=name, **kwargs)
        self.num_outputs = num_outputs
        self.logit_noise = noise_class(logit_noise)
        self.min_scale = min_scale
        self.logits_only = logits_only
        self.loc_layer, self.scale_layer = (
            tf.keras.layers.Dense(num_outputs, dtype=self._dtype_policy, name=name)
            for name in ("loc", "scale")
        )

    def build(self, input_shape):
        for layer in (self.loc_layer, self.scale_layer):
            with tf.name_scope(layer.name):
                layer.build(input_shape)
        super().build(input_shape)

    def call(self, inputs, training=True, seed=None):
        del training, seed
        dtype = parameter_dtype(self)
        loc = tf.cast(self.loc_layer(inputs), dtype)
        raw = tf.cast(self.scale_layer(inputs), dtype)
        scale = tf.nn.softplus(raw) + tf.cast(self.min_scale, dtype)
        latent = self.logit_noise(loc, scale)
        zero = tf.zeros([], dtype)
        log_probs = latent.log_survival_function(zero)
        logits = log_probs - latent.log_cdf(zero)
        return logits if self.logits_only else (logits, log_probs, tf.exp(log_probs), None)

    def get_config(self):
        return {
            **super().get_config(),
            "num_outputs": self.num_outputs,
            "logit_noise": self.logit_noise.__name__,
            "min_scale": self.min_scale,
            "logits_only": self.logits_only,
        }
