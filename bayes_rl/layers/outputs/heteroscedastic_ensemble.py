"""Weighted ensemble of heteroscedastic output layers."""

import tensorflow as tf

from bayes_rl.layers.outputs.heteroscedastic_links import sigmoid_outputs, softmax_outputs
from bayes_rl.noise import as_seed
from bayes_rl.serialization import deserialize, register, serialize


@register
class EnsembleHeteroscedasticOutputs(tf.keras.layers.Layer):
    """Averages the predictions of output layers on the same inputs.

        ensemble_cross_ent: log_probs = log sum_i weight_i probs_i
        gibbs_cross_ent: in training log_probs = sum_i weight_i log probs_i, whose cross
            entropy is the members' mean one; otherwise as above

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
        if averaging not in self.averagings:
            raise ValueError(
                f"averaging must be one of {self.averagings}, got {averaging!r}"
            )
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
        is_geometric = training and self.averaging == "gibbs_cross_ent"
        average = self._log_geometric_mean if is_geometric else self._log_mean
        if self.num_classes == 2:
            members = tf.math.log_sigmoid(logits)
            complements = average(tf.math.log_sigmoid(-logits))
            averaged = sigmoid_outputs(average(members), complements, self.eps)
        else:
            members = tf.nn.log_softmax(logits)
            averaged = softmax_outputs(average(members), self.eps)
        return *averaged, self._variance(outputs, tf.exp(members))

    def _variances(self, outputs):
        """Predictive variance of each member; None of one that gives logits alone."""
        return [
            found[3]
            if isinstance(found, tuple) and not getattr(member, "logits_only", False)
            else None
            for member, found in zip(self.members, outputs, strict=True)
        ]

    def _weights(self, like):
        shape = [-1] + [1] * (like.shape.rank - 1)
        return tf.reshape(tf.constant(self.ensemble_weighting, like.dtype), shape)

    def _log_mean(self, log_probs):
        log_weights = tf.math.log(self._weights(log_probs))
        return tf.reduce_logsumexp(log_weights + log_probs, axis=0)

    def _log_geometric_mean(self, log_probs):
        return tf.reduce_sum(self._weights(log_probs) * log_probs, axis=0)

    def _variance(self, outputs, probs):
        variances = self._variances(outputs)
        if any(variance is None for variance in variances):
            return None
        weights = self._weights(probs)
        mean = tf.reduce_sum(weights * probs, axis=0)
        return tf.reduce_sum(
            weights * (tf.stack(variances) + tf.square(probs - mean)), axis=0
        )

    def get_config(self):
        return {
            **super().get_config(),
            "num_classes": self.num_classes,
            "layers": [serialize(layer) for layer in self.members],
            "ensemble_weighting": self.ensemble_weighting,
            "averaging": self.averaging,
            "eps": self.eps,
        }

    @classmethod
    def from_config(cls, config):
        layers = [deserialize(layer) for layer in config["layers"]]
        return cls(**{**config, "layers": layers})
