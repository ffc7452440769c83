"""Heteroscedastic outputs without samples: in closed form, and averaged over layers."""

import tensorflow as tf
from tensorflow_probability import distributions as tfd

from bayes_rl import checks
from bayes_rl.layers.outputs.heteroscedastic.monte_carlo import (
    averaged_outputs,
    noise_class,
)
from bayes_rl.layers.precision import parameter_dtype
from bayes_rl.numerics.noise import as_seed
from bayes_rl.serialization import config_of, register


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
        checks.at_least_1(num_outputs=num_outputs)
        checks.not_negative(min_scale=min_scale)
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


@register
class EnsembleHeteroscedasticOutputs(tf.keras.layers.Layer):
    """Averages the predictions of output layers on the same inputs.

        ensemble_cross_ent: log_probs = log sum_i weight_i probs_i
        gibbs_cross_ent: in training log_probs = sum_i weight_i log probs_i, whose cross
            entropy is the members' mean one; otherwise as above

    Of two classes the log probability of the other one is log_probs - logits. What Gibbs
    averaging gives in training is not normalised: the probabilities sum to less than 1, so
    a loss must take log_probs as they are, not logits.

    Source: Collier et al., 2021, Correlated Input-Dependent Label Noise in Large-Scale
    Image Classification, appendix, after Edward2.

    Args:
        num_classes: of the members; 2 for members with one latent and a sigmoid.
        layers: heteroscedastic output layers, each returning logits or
            `(logits, log_probs, probs, predictive_variance)`.
        ensemble_weighting: one weight a layer, not below 0, that sum to 1.
        averaging: "ensemble_cross_ent" or "gibbs_cross_ent".
        eps: least probability.
        name: of the layer.
        **kwargs: of `tf.keras.layers.Layer`.

    Returns of a call, each [..., num_classes], or [..., 1] for two classes:
        `(logits, log_probs, probs, predictive_variance)`, the variance that of the mixture
        of the members, None if one of them gives none.

    Raises:
        ValueError: an argument is out of its range.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> members = [ed.layers.MCSoftmaxDense(3), ed.layers.MCSoftmaxDenseFA(3, 2)]
        >>> layer = ed.layers.EnsembleHeteroscedasticOutputs(3, members, [0.5, 0.5])
        >>> layer(tf.ones([2, 5]))[2].shape
        TensorShape([2, 3])
    """

    averagings = ("ensemble_cross_ent", "gibbs_cross_ent")

    def __init__(
        self,
        num_classes,
        layers,
        ensemble_weighting,
        averaging="ensemble_cross_ent",
        eps=1e-7,
        name=None,
        **kwargs,
    ):
        weights = [float(weight) for weight in ensemble_weighting]
        if len(weights) != len(layers):
            raise ValueError(
                f"ensemble_weighting must have {len(layers)} weights, one a layer, got "
                f"{len(weights)}"
            )
        if min(weights) < 0 or abs(sum(weights) - 1) > 1e-5:
            raise ValueError(f"ensemble_weighting must sum to 1, got {weights}")
        checks.one_of(self.averagings, averaging=averaging)
        super().__init__(name=name, **kwargs)
        self.num_classes = num_classes
        self.members = list(layers)
        self.ensemble_weighting = weights
        self.averaging = averaging
        self.eps = eps

    def build(self, input_shape):
        for index, layer in enumerate(self.members):
            if not layer.built:
                with tf.name_scope(f"{layer.name}_{index}"):
                    layer.build(input_shape)
        super().build(input_shape)

    def call(self, inputs, training=True, seed=None):
        seeds = tf.random.experimental.stateless_split(as_seed(seed), len(self.members))
        outputs = [
            member(inputs, training=training, seed=member_seed)
            for member, member_seed in zip(self.members, tf.unstack(seeds), strict=True)
        ]
        logits = tf.stack([x[0] if isinstance(x, tuple) else x for x in outputs])
        shape = [-1] + [1] * (logits.shape.rank - 1)
        weights = tf.reshape(tf.constant(self.ensemble_weighting, logits.dtype), shape)

        def log_mean(log_probs):
            if training and self.averaging == "gibbs_cross_ent":
                return tf.reduce_sum(weights * log_probs, axis=0)
            return tf.reduce_logsumexp(tf.math.log(weights) + log_probs, axis=0)

        is_softmax = self.num_classes != 2
        averaged = averaged_outputs(logits, is_softmax, log_mean, self.eps)
        probs = tf.nn.softmax(logits) if is_softmax else tf.sigmoid(logits)
        return *averaged, self._variance(outputs, probs, weights)

    def _variance(self, outputs, probs, weights):
        """That of the mixture; None where a member gives logits alone."""
        variances = [
            found[3]
            if isinstance(found, tuple) and not getattr(member, "logits_only", False)
            else None
            for member, found in zip(self.members, outputs, strict=True)
        ]
        if any(variance is None for variance in variances):
            return None
        deviations = probs - tf.reduce_sum(weights * probs, axis=0)
        return tf.reduce_sum(weights * (tf.stack(variances) + deviations**2), axis=0)

    def get_config(self):
        return config_of(EnsembleHeteroscedasticOutputs, self, layers=self.members)
