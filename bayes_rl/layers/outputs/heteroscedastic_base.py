"""Classifiers whose logits have noise that depends on the input.

    latents = loc(inputs) + noise(inputs)        one latent a class
    probs = E[softmax(latents / temperature)]    over the noise, by Monte Carlo

Two classes have a single latent and a sigmoid in place of the softmax.

Source: Collier et al., 2020, A Simple Probabilistic Method for Deep Classification under
Input-Dependent Label Noise; Collier et al., 2021, Correlated Input-Dependent Label Noise in
Large-Scale Image Classification.
"""

import math

import tensorflow as tf
from tensorflow_probability import distributions as tfd

from bayes_rl.layers.outputs.heteroscedastic_links import (
    compute_temperature,
    inverse_temperature,
    log_mean_exp,
    noise_class,
    sigmoid_outputs,
    softmax_outputs,
)
from bayes_rl.layers.precision import parameter_dtype
from bayes_rl.noise import as_seed
from bayes_rl.serialization import serialize

LEAST_SCALE = 1e-3


class MCSoftmaxOutputLayerBase(tf.keras.layers.Layer):
    """What Monte Carlo heteroscedastic outputs share; it makes no noise of its own.

    The call takes `training`, which chooses the number of samples, and a stateless `seed`
    (two ints, a tensor [2] or one int; None for new noise).

    Returns of a call, each [..., num_classes], or [..., 1] for two classes:
        `logits` if `logits_only`, else `(logits, log_probs, probs, predictive_variance)`,
        the variance None unless asked for. With `return_unaveraged_logits`, also
        latents / temperature [..., samples, num_classes] at the end.

    Args:
        num_classes: at least 2.
        logit_noise: class of a location-scale distribution in `tfp.distributions`, or its
            name.
        temperature: above 0.
        train_mc_samples: number of samples in training.
        test_mc_samples: number of samples otherwise.
        compute_pred_variance: whether to return the variance of the probabilities.
        share_samples_across_batch: whether all examples have the same noise.
        logits_only: whether to return the logits alone.
        eps: least probability.
        dtype: of the layer.
        kernel_regularizer: of the projections.
        bias_regularizer: of the projections.
        return_unaveraged_logits: whether to return the logits of all samples too.
        tune_temperature: whether the temperature is trained, from `temperature` on.
        temperature_lower_bound: of a trained temperature.
        temperature_upper_bound: of a trained temperature, which starts in the middle where
            `temperature` is not between its bounds.
        name: of the layer.
        **kwargs: of `tf.keras.layers.Layer`.

    Raises:
        ValueError: an argument is out of its range.
    """

    options = (
        "num_classes",
        "temperature",
        "train_mc_samples",
        "test_mc_samples",
        "compute_pred_variance",
        "share_samples_across_batch",
        "logits_only",
        "eps",
        "return_unaveraged_logits",
        "tune_temperature",
        "temperature_lower_bound",
        "temperature_upper_bound",
    )
    heads = ()

    def __init__(
        self,
        num_classes,
        logit_noise=tfd.Normal,
        temperature=1.0,
        train_mc_samples=1000,
        test_mc_samples=1000,
        compute_pred_variance=False,
        share_samples_across_batch=False,
        logits_only=False,
        eps=1e-7,
        dtype=None,
        kernel_regularizer=None,
        bias_regularizer=None,
        return_unaveraged_logits=False,
        tune_temperature=False,
        temperature_lower_bound=None,
        temperature_upper_bound=None,
        name=None,
        **kwargs,
    ):
        super().__init__(dtype=dtype, name=name, **kwargs)
        given = dict(locals())
        for option in MCSoftmaxOutputLayerBase.options:
            setattr(self, option, given[option])
        self._check()
        self.logit_noise = noise_class(logit_noise)
        self.kernel_regularizer = tf.keras.regularizers.get(kernel_regularizer)
        self.bias_regularizer = tf.keras.regularizers.get(bias_regularizer)

    def _check(self):
        if self.num_classes < 2 and self.is_softmax:
            raise ValueError(f"num_classes must be at least 2, got {self.num_classes}")
        for option in ("temperature", "train_mc_samples", "test_mc_samples", "eps"):
            if getattr(self, option) <= 0:
                raise ValueError(f"{option} must be above 0, got {getattr(self, option)}")

    @property
    def is_softmax(self):
        """Whether the classes exclude each other and have a latent each."""
        return self.num_classes != 2

    @property
    def num_latents(self):
        """K, the size of the last axis of the outputs."""
        return self.num_classes if self.is_softmax else 1

    def add_projection(self, name, size):
        """Linear layer from the inputs to [..., *heads, size]."""
        return tf.keras.layers.Dense(
            size * math.prod(self.heads),
            kernel_regularizer=self.kernel_regularizer,
            bias_regularizer=self.bias_regularizer,
            dtype=self._dtype_policy,
            name=name,
        )

    def build(self, input_shape):
        for layer in self._flatten_layers(recursive=False, include_self=False):
            if not layer.built:
                with tf.name_scope(layer.name):
                    layer.build(input_shape)
        if self.tune_temperature:
            bounds = self.temperature_lower_bound, self.temperature_upper_bound
            self.pre_sigmoid_temperature = self.add_weight(
                "pre_sigmoid_temperature",
                [],
                initializer=tf.keras.initializers.Constant(
                    inverse_temperature(self.temperature, *bounds)
                ),
                dtype=parameter_dtype(self),
                experimental_autocast=False,
            )
        super().build(input_shape)

    def project(self, layer, inputs, *sizes):
        """[..., *heads, *sizes], what `layer` makes of inputs [..., features]."""
        outputs = tf.cast(layer(inputs), parameter_dtype(self))
        trailing = [*self.heads, *sizes]
        shape = tf.concat([tf.shape(outputs)[:-1], trailing], 0)
        return tf.ensure_shape(
            tf.reshape(outputs, shape), outputs.shape[:-1].concatenate(trailing)
        )

    def _compute_loc_param(self, inputs):
        """[..., K], mean of the latents."""
        return self.project(self.loc_layer, inputs, self.num_latents)

    def _compute_scale_param(self, inputs):
        """What `_compute_noise_samples` needs to know of the inputs."""
        raise NotImplementedError

    def _compute_noise_samples(self, scale, num_samples, seed):
        """[..., num_samples, K], noise of the latents; without `...` where it is shared."""
        raise NotImplementedError

    def standard_noise(self, like, num_samples, size, seed):
        """[..., num_samples, size] noise of scale 1 for a tensor `like` [..., K]."""
        leading = [] if self.share_samples_across_batch else tf.shape(like)[:-1]
        shape = tf.concat([leading, [num_samples, size]], 0)
        zero, one = tf.zeros([], like.dtype), tf.ones([], like.dtype)
        noise = self.logit_noise(zero, one).sample(shape, seed=tf.cast(seed, tf.int32))
        static = [] if self.share_samples_across_batch else like.shape[:-1]
        return tf.ensure_shape(noise, [*static, num_samples, size])

    def _temperature(self, dtype):
        if not self.tune_temperature:
            return tf.cast(self.temperature, dtype)
        return compute_temperature(
            tf.convert_to_tensor(self.pre_sigmoid_temperature),
            self.temperature_lower_bound,
            self.temperature_upper_bound,
        )

    def call(self, inputs, training=True, seed=None):
        loc = self._compute_loc_param(inputs)
        scale = self._compute_scale_param(inputs)
        return self._outputs(self._sample_logits(loc, scale, training, seed))

    def _sample_logits(self, loc, scale, training, seed):
        """[..., samples, K], latents over temperature."""
        num_samples = self.train_mc_samples if training else self.test_mc_samples
        noise = self._compute_noise_samples(scale, num_samples, as_seed(seed))
        return (loc[..., tf.newaxis, :] + noise) / self._temperature(loc.dtype)

    def _outputs(self, logits):
        """What a call returns, for logits [..., samples, K] of all samples."""
        if self.is_softmax:
            probs = tf.nn.softmax(logits)
            outputs = softmax_outputs(log_mean_exp(tf.nn.log_softmax(logits), -2), self.eps)
        else:
            probs = tf.sigmoid(logits)
            outputs = sigmoid_outputs(
                log_mean_exp(tf.math.log_sigmoid(logits), -2),
                log_mean_exp(tf.math.log_sigmoid(-logits), -2),
                self.eps,
            )
        outputs = [*outputs, None]
        if self.compute_pred_variance:
            outputs[3] = tf.math.reduce_variance(probs, axis=-2)
        outputs = outputs[:1] if self.logits_only else outputs
        if self.return_unaveraged_logits:
            outputs = [*outputs, logits]
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def get_config(self):
        return {
            **super().get_config(),
            **{option: getattr(self, option) for option in self.options},
            "kernel_regularizer": serialize(self.kernel_regularizer),
            "bias_regularizer": serialize(self.bias_regularizer),
        }
