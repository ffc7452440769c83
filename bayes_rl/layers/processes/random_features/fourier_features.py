"""Random Fourier features, and a Gaussian process as a Bayesian linear model of them."""

import math

import tensorflow as tf
from tensorflow_probability import distributions as tfd

from bayes_rl import checks, initializers, regularizers
from bayes_rl.layers import products
from bayes_rl.layers.base import StochasticLayer, WeightAttribute
from bayes_rl.layers.processes import parameters
from bayes_rl.serialization import config_of, register


@register
class StandardCauchy(tf.keras.initializers.Initializer):
    """Initial values from the standard Cauchy distribution; with a seed always the same."""

    def __init__(self, seed=None):
        self.seed = seed

    def __call__(self, shape, dtype=None, **kwargs):
        del kwargs
        uniform = tf.keras.initializers.RandomUniform(1e-6, 1 - 1e-6, seed=self.seed)
        dtype = tf.as_dtype(dtype or tf.float32)
        return tfd.Cauchy(tf.zeros([], dtype), 1.0).quantile(uniform(shape, dtype=dtype))


# Spectral density at lengthscale 1: Bochner's theorem gives the covariance.
FREQUENCIES = {
    "gaussian": lambda: tf.keras.initializers.RandomNormal(stddev=1.0),
    "laplacian": StandardCauchy,
}


@register
class RandomFeatures(tf.keras.layers.Layer):
    """Fixed random features whose products approximate a covariance function.

        features = scale activation(inputs @ frequencies / lengthscale + phase)

    With a cosine, phases uniform in [0, 2 pi] and scale = sqrt(2 / num_features), the
    expected product of two features is, for standard normal frequencies ("gaussian"),
    exp(-|x1 - x2|^2 / (2 lengthscale^2)), and for standard Cauchy ones ("laplacian")
    exp(-|x1 - x2|_1 / lengthscale). The frequencies [features of the inputs, num_features]
    may come from an initializer instead; not `is_scaled`, the scale is 1.

    Source: Rahimi and Recht, 2007, Random Features for Large-Scale Kernel Machines,
    algorithm 1 and figure 1.
    """

    def __init__(
        self,
        num_features,
        lengthscale=1.0,
        kernel_type="gaussian",
        frequencies_initializer=None,
        activation=None,
        is_scaled=True,
        **kwargs,
    ):
        checks.at_least_1(num_features=num_features)
        checks.one_of(FREQUENCIES, kernel_type=kernel_type)
        super().__init__(**{"autocast": False, **kwargs})
        self.num_features = num_features
        self.lengthscale = parameters.from_config(lengthscale)
        parameters.check("lengthscale", self.lengthscale, can_be_zero=False)
        self.kernel_type = kernel_type
        self.frequencies_initializer = initializers.get(frequencies_initializer)
        self.activation = tf.keras.activations.get(activation) if activation else None
        self.is_scaled = is_scaled

    def build(self, input_shape):
        shape = [input_shape[-1], self.num_features]
        frequencies = self.frequencies_initializer
        if frequencies is None:
            frequencies = FREQUENCIES[self.kernel_type]()
        # In float16 the phases of far inputs would be noise.
        options = {"trainable": False, "experimental_autocast": False}
        self.frequencies = self.add_weight(
            "frequencies", shape, initializer=frequencies, **options
        )
        phases = tf.keras.initializers.RandomUniform(0.0, 2 * math.pi)
        self.phases = self.add_weight(
            "phases", [self.num_features], initializer=phases, **options
        )
        super().build(input_shape)

    def call(self, inputs):
        dtype = self.phases.dtype
        inputs = tf.cast(inputs, dtype) / parameters.value_of(self.lengthscale, dtype)
        projected = products.dense(inputs, tf.convert_to_tensor(self.frequencies))
        features = (self.activation or tf.cos)(projected + self.phases)
        if self.is_scaled:
            features *= math.sqrt(2.0 / self.num_features)
        return features

    def get_config(self):
        lengthscale = parameters.to_config(self.lengthscale, self.name)
        return config_of(RandomFeatures, self, lengthscale=lengthscale)


@register
class RandomFourierFeatures(StochasticLayer, tf.keras.layers.Layer):
    """Gaussian process layer by random features, with a posterior over their weights.

        outputs = sqrt(variance) features(inputs) @ kernel,  kernel ~ posterior
        features = sqrt(2 / num_features) cos(inputs @ frequencies / lengthscale + phases)

    A kernel from the prior Normal(0, I) gives draws of a Gaussian process whose covariance
    is that of `ExponentiatedQuadratic(variance, lengthscale)`, with errors of order
    variance / sqrt(num_features). The whole batch shares the draw; a held kernel
    (`bayes_rl.hold`) is one function. `losses` holds the KL of the kernel's posterior.

    Source: Rahimi and Recht, 2007, Random Features for Large-Scale Kernel Machines,
    algorithm 1; Tran et al., 2019, Bayesian Layers, section 2.2.

    Args:
        units: number of functions, the size of the last output axis, at least 1.
        num_features: number of random features, at least 1.
        variance: of a function value; number, variable or `tfp.util.TransformedVariable`,
            above 0.
        lengthscale: likewise.
        kernel_initializer: posterior over the kernel [num_features, units].
        kernel_regularizer: cost of that posterior.
        kernel_type: "gaussian", or "laplacian" for exp(-|x1 - x2|_1 / lengthscale).
        **kwargs: of `tf.keras.layers.Layer`.

    Raises:
        ValueError: an argument is out of its range or unknown.

    Example:
        >>> import bayes_rl as ed
        >>> layer = ed.layers.RandomFourierFeatures(4, num_features=64, name="process")
        >>> layer(tf.ones([2, 3])).shape
        TensorShape([2, 4])
        >>> layer.kernel.name, len(layer.losses)
        ('process/kernel', 1)
    """

    kernel = WeightAttribute()

    def __init__(
        self,
        units,
        num_features=1024,
        variance=1.0,
        lengthscale=1.0,
        kernel_initializer="trainable_normal",
        kernel_regularizer="normal_kl_divergence",
        kernel_type="gaussian",
        **kwargs,
    ):
        checks.at_least_1(units=units)
        super().__init__(**{"autocast": False, **kwargs})
        self.units = units
        self.variance = parameters.from_config(variance)
        parameters.check("variance", self.variance, can_be_zero=False)
        self.features = RandomFeatures(
            num_features,
            lengthscale,
            kernel_type,
            dtype=self._parameter_dtype(),
            name="features",
        )
        self.kernel_initializer = initializers.get(kernel_initializer)
        self.kernel_regularizer = regularizers.get(kernel_regularizer)

    def build(self, input_shape):
        with tf.name_scope("features"):
            self.features.build(input_shape)
        self.kernel = self.add_weight(
            "kernel",
            [self.features.num_features, self.units],
            initializer=self.kernel_initializer,
            regularizer=self.kernel_regularizer,
        )
        super().build(input_shape)

    def call(self, inputs):
        features = self.features(inputs)
        features *= tf.sqrt(parameters.value_of(self.variance, features.dtype))
        return products.dense(tf.cast(features, self.compute_dtype), self.draw("kernel"))

    def get_config(self):
        features = self.features.get_config()
        values = {x: features[x] for x in ("num_features", "lengthscale", "kernel_type")}
        values["variance"] = parameters.to_config(self.variance, self.name)
        return config_of(RandomFourierFeatures, self, **values)
