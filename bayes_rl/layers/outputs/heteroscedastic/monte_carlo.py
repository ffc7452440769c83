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

from bayes_rl import checks
from bayes_rl.layers import products
from bayes_rl.layers.base.arguments import takes
from bayes_rl.layers.precision import parameter_dtype
from bayes_rl.numerics.noise import as_seed
from bayes_rl.serialization import configured, register

_LEAST_SCALE = 1e-3


def averaged_outputs(logits, is_softmax, log_mean, eps):
    """(logits, log_probs, probs) of averaged probabilities, each [..., K].

    `log_mean` maps log probabilities of all samples or members to the logarithm of their
    average. Of binary outputs, log_probs - logits are those of the complement.
    """
    least, most = math.log(eps), math.log1p(-eps)
    if is_softmax:
        log_probs = tf.maximum(log_mean(tf.nn.log_softmax(logits)), least)
        return log_probs, log_probs, tf.exp(log_probs)
    log_probs, complements = (
        tf.clip_by_value(log_mean(tf.math.log_sigmoid(x)), least, most)
        for x in (logits, -logits)
    )
    return log_probs - complements, log_probs, tf.exp(log_probs)


def noise_class(identifier):
    """Distribution class for a class, or for its name in `tfp.distributions`."""
    found = getattr(tfd, identifier, None) if isinstance(identifier, str) else identifier
    if found is None:
        raise ValueError(f"logit_noise must be in tfp.distributions, got {identifier!r}")
    return found


def compute_temperature(pre_sigmoid_temperature, lower=None, upper=None):
    """Temperature [] between bounds, from an unconstrained number.

        temperature = lower + (upper - lower) sigmoid(x)
        temperature = lower + softplus(x)    without upper

    Without lower that is 0.
    """
    lower = 0.0 if lower is None else lower
    if upper is None:
        return lower + tf.nn.softplus(pre_sigmoid_temperature)
    return lower + (upper - lower) * tf.sigmoid(pre_sigmoid_temperature)


def inverse_temperature(temperature, lower=None, upper=None):
    """What `compute_temperature` maps to a temperature, or to the middle of its bounds.

    The middle takes the place of a temperature that is not between them; where there is no
    upper bound, one above the lower.
    """
    lower = 0.0 if lower is None else lower
    if not lower < temperature < (math.inf if upper is None else upper):
        temperature = lower + 1.0 if upper is None else (lower + upper) / 2.0
    if upper is None:
        return math.log(math.expm1(temperature - lower))
    return math.log((temperature - lower) / (upper - temperature))


@configured
class MCSoftmaxOutputLayerBase(tf.keras.layers.Layer):
    """What Monte Carlo heteroscedastic outputs share.

    A subclass gives `loc_layer`, `_compute_scale_param(inputs)` and
    `_compute_noise_samples(scale, num_samples, seed)`, [..., num_samples, K] or, where
    the noise is shared, [num_samples, K].

    The call takes `training`, which chooses the number of samples, and a stateless `seed`
    (two ints, a tensor [2] or one int; None for new noise).

    Returns of a call, each [..., num_classes], or [..., 1] for two classes:
        `logits` if `logits_only`, else `(logits, log_probs, probs, predictive_variance)`,
        the variance None unless asked for. With `return_unaveraged_logits`, also
        latents / temperature [..., samples, num_classes] at the end.

    Args:
        num_classes: at least 2.
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
        temperature_lower_bound: of a trained temperature, not below 0.
        temperature_upper_bound: of a trained temperature, which starts in the middle where
            `temperature` is not between its bounds.
        name: of the layer.
        **kwargs: of `tf.keras.layers.Layer`.

    Raises:
        ValueError: an argument is out of its range.
    """

    logit_noise = tfd.Normal
    heads = ()

    def __init__(
        self,
        num_classes,
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
        self.num_classes = num_classes
        self.temperature = temperature
        self.train_mc_samples = train_mc_samples
        self.test_mc_samples = test_mc_samples
        self.compute_pred_variance = compute_pred_variance
        self.share_samples_across_batch = share_samples_across_batch
        self.logits_only = logits_only
        self.eps = eps
        self.kernel_regularizer = tf.keras.regularizers.get(kernel_regularizer)
        self.bias_regularizer = tf.keras.regularizers.get(bias_regularizer)
        self.return_unaveraged_logits = return_unaveraged_logits
        self.tune_temperature = tune_temperature
        self.temperature_lower_bound = temperature_lower_bound
        self.temperature_upper_bound = temperature_upper_bound
        if self.num_classes < 2 and self.is_softmax:
            raise ValueError(f"num_classes must be at least 2, got {self.num_classes}")
        checks.above_0(temperature=temperature, eps=eps)
        checks.above_0(train_mc_samples=train_mc_samples, test_mc_samples=test_mc_samples)
        lower, upper = self._bounds
        if not 0 <= (lower or 0.0) < (math.inf if upper is None else upper):
            raise ValueError(
                "temperature_lower_bound must not be below 0, and below "
                f"temperature_upper_bound, got {lower} and {upper}"
            )

    @property
    def _bounds(self):
        return self.temperature_lower_bound, self.temperature_upper_bound

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
            start = inverse_temperature(self.temperature, *self._bounds)
            self.pre_sigmoid_temperature = self.add_weight(
                "pre_sigmoid_temperature",
                [],
                initializer=tf.keras.initializers.Constant(start),
                dtype=parameter_dtype(self),
                experimental_autocast=False,
            )
        super().build(input_shape)

    def project(self, layer, inputs, *sizes):
        """[..., *heads, *sizes], what `layer` makes of inputs [..., features]."""
        outputs = tf.cast(layer(inputs), parameter_dtype(self))
        return tf.reshape(outputs, [*products.sizes(outputs)[:-1], *self.heads, *sizes])

    def positive(self, layer, inputs):
        """[..., *heads, K], a scale: softplus of what `layer` makes of inputs, + 0.001."""
        raw = self.project(layer, inputs, self.num_latents)
        return tf.nn.softplus(raw) + tf.cast(_LEAST_SCALE, raw.dtype)

    def standard_noise(self, like, num_samples, size, seed):
        """[..., num_samples, size] noise of scale 1 for a tensor `like` [..., K]."""
        is_shared = self.share_samples_across_batch
        shape = [*([] if is_shared else products.sizes(like)[:-1]), num_samples, size]
        zero, one = tf.zeros([], like.dtype), tf.ones([], like.dtype)
        noise = self.logit_noise(zero, one).sample(shape, seed=tf.cast(seed, tf.int32))
        static = [] if is_shared else like.shape[:-1]
        return tf.ensure_shape(noise, [*static, num_samples, size])

    def call(self, inputs, training=True, seed=None):
        loc = self.project(self.loc_layer, inputs, self.num_latents)
        scale = self._compute_scale_param(inputs)
        return self._outputs(self._sample_logits(loc, scale, training, seed))

    def _sample_logits(self, loc, scale, training, seed):
        """[..., samples, K], latents over temperature."""
        num_samples = self.train_mc_samples if training else self.test_mc_samples
        noise = self._compute_noise_samples(scale, num_samples, as_seed(seed))
        temperature = tf.cast(self.temperature, loc.dtype)
        if self.tune_temperature:
            raw = tf.convert_to_tensor(self.pre_sigmoid_temperature)
            temperature = compute_temperature(raw, *self._bounds)
        return (loc[..., tf.newaxis, :] + noise) / temperature

    def _outputs(self, logits):
        """What a call returns, for logits [..., samples, K] of all samples."""
        log_count = tf.math.log(tf.cast(tf.shape(logits)[-2], logits.dtype))

        # That of TFP divides sizes, which are 0 in an empty batch.
        def log_mean(log_probs):
            return tf.reduce_logsumexp(log_probs, axis=-2) - log_count

        outputs = [*averaged_outputs(logits, self.is_softmax, log_mean, self.eps), None]
        if self.compute_pred_variance:
            link = tf.nn.softmax if self.is_softmax else tf.sigmoid
            outputs[3] = tf.math.reduce_variance(link(logits), axis=-2)
        outputs = outputs[:1] if self.logits_only else outputs
        outputs += [logits] * self.return_unaveraged_logits
        return outputs[0] if len(outputs) == 1 else tuple(outputs)


@register
@takes(MCSoftmaxOutputLayerBase, after_num_classes={"logit_noise": tfd.Normal})
class MCSoftmaxDense(MCSoftmaxOutputLayerBase):
    """Heteroscedastic softmax output with independent noise on each logit.

        latents = inputs @ kernel + bias + scale * noise
        scale = softplus(inputs @ other kernel + bias) + 0.001
        probs = E[softmax(latents / temperature)]

    Source: Collier et al., 2020, section 3.

    Args:
        num_classes: at least 2.
        logit_noise: class of a location-scale distribution in `tfp.distributions`, or its
            name.
        temperature: as in `MCSoftmaxOutputLayerBase`, and so all that follow. What a call
            returns stands there, too.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> layer = ed.layers.MCSoftmaxDense(3, test_mc_samples=100)
        >>> logits, log_probs, probs, _ = layer(tf.ones([2, 5]), training=False, seed=1)
        >>> probs.shape
        TensorShape([2, 3])
    """

    def __init__(self, *, logit_noise, **kwargs):
        super().__init__(**kwargs)
        self.logit_noise = noise_class(logit_noise)
        self.loc_layer = self.add_projection("loc", self.num_latents)
        self.scale_layer = self.add_projection("scale", self.num_latents)

    def _compute_scale_param(self, inputs):
        return self.positive(self.scale_layer, inputs)

    def _compute_noise_samples(self, scale, num_samples, seed):
        noise = self.standard_noise(scale, num_samples, self.num_latents, seed)
        return scale[..., tf.newaxis, :] * noise
