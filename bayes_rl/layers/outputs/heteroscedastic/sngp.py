"""Heteroscedastic output that also knows its distance to the training data."""

import inspect

import tensorflow as tf

from bayes_rl import checks
from bayes_rl.layers.base.arguments import takes
from bayes_rl.layers.outputs.heteroscedastic.factors import MCSoftmaxDenseFA
from bayes_rl.layers.precision import parameter_dtype
from bayes_rl.layers.processes.random_features.gaussian_process import (
    RandomFeatureGaussianProcess,
)
from bayes_rl.serialization import config_of, register

# From `num_inducing` to `gp_cov_likelihood`, with other defaults.
_OF_PROCESS = [*inspect.signature(RandomFeatureGaussianProcess).parameters.values()][1:16]
_GP_OPTIONS = {each.name: each.default for each in _OF_PROCESS} | {
    "normalize_input": False,
    "gp_cov_momentum": -1.0,
    "gp_cov_ridge_penalty": 1.0,
    "l2_regularization": 1e-6,
}
_OPTIONS = {"return_gp_cov": True, "return_random_features": False}
_OPTIONS |= {"sngp_var_weight": 1.0, "het_var_weight": 1.0}


@register
@takes(
    MCSoftmaxDenseFA,
    without=["parameter_efficient"],
    after_bias_regularizer=_GP_OPTIONS | _OPTIONS,
    num_factors=10,
    logits_only=True,
)
class HeteroscedasticSNGPLayer(MCSoftmaxDenseFA):
    """`MCSoftmaxDenseFA` on random features, with the variance of a Gaussian process.

        loc, covariance, features = RandomFeatureGaussianProcess(inputs)
        latents ~ Normal(loc, h (V V^T + diag(d^2)) + g diag(covariance))

    with h = `het_var_weight`, g = `sngp_var_weight`, V and d linear in the features. The
    latents of an example share its variance under the process; its covariance with other
    examples is left out, and while training, when it is not known yet, the variance too.

    Source: Fortuin et al., 2021, Deep Classifiers with Label Noise Modeling and Distance
    Awareness, section 3.

    Args:
        num_classes: at least 2.
        num_factors: not below 0.
        temperature: as in `MCSoftmaxOutputLayerBase`, and so all up to `dtype`.
        kernel_regularizer: of the projections to V and d.
        bias_regularizer: likewise.
        num_inducing: as in `RandomFeatureGaussianProcess`, and so all up to
            `gp_cov_likelihood`.
        return_gp_cov: whether the covariance [B, B] follows the other outputs.
        return_random_features: whether the features [B, num_inducing] do, at the end.
        sngp_var_weight: g, not below 0.
        het_var_weight: h, not below 0.
        return_unaveraged_logits: as in `MCSoftmaxOutputLayerBase`, and so all that follow.

    Raises:
        ValueError: an argument is out of its range.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> layer = ed.layers.HeteroscedasticSNGPLayer(3, 2, num_inducing=64)
        >>> logits, covariance = layer(tf.ones([2, 5]), training=False)
        >>> logits.shape, covariance.shape
        (TensorShape([2, 3]), TensorShape([2, 2]))
    """

    def __init__(
        self,
        *,
        return_gp_cov,
        return_random_features,
        sngp_var_weight,
        het_var_weight,
        **kwargs,
    ):
        checks.not_negative(sngp_var_weight=sngp_var_weight, het_var_weight=het_var_weight)
        self.gp_options = {name: kwargs.pop(name) for name in _GP_OPTIONS}
        super().__init__(**kwargs)
        self.return_gp_cov = return_gp_cov
        self.return_random_features = return_random_features
        self.sngp_var_weight = sngp_var_weight
        self.het_var_weight = het_var_weight

    def _make_loc_layer(self):
        return RandomFeatureGaussianProcess(
            self.num_latents,
            **self.gp_options,
            return_gp_cov=True,
            return_random_features=True,
            dtype=parameter_dtype(self).name,
            name="loc",
        )

    def build(self, input_shape):
        with tf.name_scope("loc"):
            self.loc_layer.build(input_shape)
        is_linear = self.loc_layer.gp_kernel_type == "linear"
        size = input_shape[-1] if is_linear else self.loc_layer.num_inducing
        super().build([*input_shape[:-1], size])

    def call(self, inputs, training=True, seed=None):
        loc, covariance, features = self.loc_layer(inputs, training=training)
        factors, diag = self._compute_scale_param(features)
        if not training:
            variance = tf.linalg.diag_part(covariance)[..., tf.newaxis]
            variance = self.sngp_var_weight * tf.cast(variance, diag.dtype)
            diag = tf.sqrt(tf.square(diag) + variance)
        logits = self._sample_logits(loc, (factors, diag), training, seed)
        outputs = self._outputs(logits)
        further = [covariance] * self.return_gp_cov
        further += [features] * self.return_random_features
        if not further:
            return outputs
        return (*(outputs if isinstance(outputs, tuple) else [outputs]), *further)

    def _compute_scale_param(self, inputs):
        factors, diag = super()._compute_scale_param(inputs)
        weight = tf.sqrt(tf.cast(self.het_var_weight, diag.dtype))
        return None if factors is None else weight * factors, weight * diag

    def reset_covariance_matrix(self):
        """Forgets the data; call it before each pass over them, for momentum -1."""
        self.loc_layer.reset_covariance_matrix()

    def get_config(self):
        config = self.loc_layer.get_config()
        config = {name: config[name] for name in _GP_OPTIONS}
        return config_of(HeteroscedasticSNGPLayer, self, **config)
