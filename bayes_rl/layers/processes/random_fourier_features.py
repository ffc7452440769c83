"""RandomFourierFeatures: a Gaussian process as a Bayesian linear model of features."""

import tensorflow as tf

from bayes_rl import initializers, regularizers
from bayes_rl.layers import products
from bayes_rl.layers.base import StochasticLayer, WeightAttribute
from bayes_rl.layers.processes import parameters
from bayes_rl.layers.processes.random_features import RandomFeatures
from bayes_rl.serialization import config_of, register


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
        variance: of a function value; number, variable or `tfp.util.TransformedVariable`.
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
        if units < 1:
            raise ValueError(f"units must be at least 1, got {units}")
        super().__init__(**{"autocast": False, **kwargs})
        self.units = units
        self.variance = parameters.from_config(variance)
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

    def compute_output_shape(self, input_shape):
        return tf.TensorShape(input_shape)[:-1].concatenate(self.units)

    def get_config(self):
        features = self.features.get_config()
        values = {x: features[x] for x in ("num_features", "lengthscale", "kernel_type")}
        values["variance"] = parameters.to_config(self.variance, self.name)
        return config_of(RandomFourierFeatures, self, **values)
