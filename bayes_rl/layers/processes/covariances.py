"""Covariance and mean functions of Gaussian processes.

A covariance function maps inputs [..., n, features] and [..., m, features] to the
covariances [..., n, m] of the function values there. Gaussian process layers take the ones
of this file, kernels of TFP and other functions.
"""

import numpy as np
import tensorflow as tf
import tensorflow_probability as tfp

from bayes_rl.layers.processes import parameters
from bayes_rl.serialization import config_of, deserialize, register, serialize


class Covariance(tf.keras.layers.Layer):
    """What covariance functions share: `call` maps two inputs to covariances."""

    feature_ndims = 1
    # Relative to a variance, above the rounding errors of the covariances: layers call
    # covariance functions in float64.
    jitter = 1e-8

    def __init__(self, **kwargs):
        super().__init__(**{"autocast": False, **kwargs})


class ParametricCovariance(Covariance):
    """What the covariance functions with parameters of their own share.

    Where they are trainable, numbers are only where training starts; a softplus then keeps
    them positive. Variables given are trained in any case.
    """

    def __init__(self, trainable_parameters=False, **kwargs):
        super().__init__(**kwargs)
        self.trainable_parameters = trainable_parameters

    def _declare(self, name, value, can_be_zero=True):
        value = parameters.from_config(value)
        if parameters.is_variable(value):
            setattr(self, name, value)
            return
        parameters.check(name, value, can_be_zero)
        if self.trainable_parameters:
            value = parameters.positive(value, self.variable_dtype, name)
        else:
            value = np.asarray(value, np.float64) if np.ndim(value) else float(value)
        setattr(self, name, value)

    def get_config(self):
        config = super().get_config()
        # What was to be trained is a variable by now, with its present value.
        for name in self.parameter_names:
            config[name] = parameters.to_config(getattr(self, name), self.name)
        return {**config, "trainable_parameters": self.trainable_parameters}


@register
class ExponentiatedQuadratic(ParametricCovariance):
    """Squared exponential covariance function: smooth functions.

        covariance = variance exp(-|x1 - x2|^2 / (2 lengthscale^2))

    Source: Rasmussen and Williams, 2006, Gaussian Processes for Machine Learning,
    equation 4.9.

    Args:
        variance: of the function values, not negative.
        lengthscale: distance over which the function varies, above 0; a scalar, or
            [features] for one per feature.
        trainable_parameters: whether the two are trained.
        **kwargs: of `tf.keras.layers.Layer`.

    Raises:
        ValueError: a parameter is out of its range, or 0 and to be trained; in a call, the
            inputs have another number of features than there are lengthscales.

    Example:
        >>> covariance = ExponentiatedQuadratic(variance=2.0, lengthscale=1.0)
        >>> covariance(tf.zeros([1, 3]), tf.zeros([4, 3])).numpy()
        array([[2., 2., 2., 2.]], dtype=float32)
    """

    parameter_names = ("variance", "lengthscale")

    def __init__(self, variance, lengthscale, trainable_parameters=False, **kwargs):
        super().__init__(trainable_parameters, **kwargs)
        self._declare("variance", variance)
        self._declare("lengthscale", lengthscale, can_be_zero=False)

    def call(self, x1, x2):
        variance = parameters.value_of(self.variance, x1.dtype)
        lengthscale = parameters.value_of(self.lengthscale, x1.dtype)
        features = x1.shape[-1:]
        if lengthscale.shape.rank and not lengthscale.shape.is_compatible_with(features):
            raise ValueError(
                f"lengthscale must have shape () or {features}, one for each feature of "
                f"the inputs, got {lengthscale.shape}"
            )
        kernel = tfp.math.psd_kernels.ExponentiatedQuadratic()
        return variance * kernel.matrix(x1 / lengthscale, x2 / lengthscale)


@register
class LinearKernel(ParametricCovariance):
    """Covariance of linear functions of the inputs, or of features of them.

        covariance = variance encoder(x1) . encoder(x2) + bias

    Source: Rasmussen and Williams, 2006, Gaussian Processes for Machine Learning,
    section 4.2.2.

    Args:
        variance: of a slope, not negative.
        bias: variance of the intercept, not negative.
        encoder: maps inputs [..., n, features] to features; a Keras layer or model is
            trained with the process.
        trainable_parameters: whether variance and bias are trained.
        **kwargs: of `tf.keras.layers.Layer`.

    Raises:
        ValueError: a parameter is negative, or 0 and to be trained.

    Example:
        >>> covariance = LinearKernel(variance=2.0, bias=1.0)
        >>> covariance(tf.ones([1, 3]), tf.ones([2, 3])).numpy()
        array([[7., 7.]], dtype=float32)
    """

    parameter_names = ("variance", "bias")

    def __init__(
        self, variance, bias, encoder=tf.identity, trainable_parameters=False, **kwargs
    ):
        super().__init__(trainable_parameters, **kwargs)
        self._declare("variance", variance)
        self._declare("bias", bias)
        if encoder is None or isinstance(encoder, dict):
            encoder = tf.identity if encoder is None else deserialize(encoder)
        self.encoder = encoder

    def call(self, x1, x2):
        variance = parameters.value_of(self.variance, x1.dtype)
        bias = parameters.value_of(self.bias, x1.dtype)
        first, second = (tf.cast(self.encoder(x), x1.dtype) for x in (x1, x2))
        return variance * tf.matmul(first, second, transpose_b=True) + bias

    def get_config(self):
        is_identity = self.encoder is tf.identity
        encoder = None if is_identity else serialize(self.encoder)
        return {**super().get_config(), "encoder": encoder}


@register
class KernelCovariance(Covariance):
    """A kernel of `tfp.math.psd_kernels` as a covariance function; layers make it."""

    def __init__(self, kernel, **kwargs):
        super().__init__(**kwargs)
        self.kernel = parameters.from_config(kernel)

    @property
    def feature_ndims(self):
        """Number of axes of one input."""
        return self.kernel.feature_ndims

    @property
    def jitter(self):
        """Relative jitter: kernels with float32 parameters compute in float32."""
        return 1e-6 if parameters.dtype_of(self.kernel) == tf.float32 else 1e-8

    def call(self, x1, x2):
        dtype = parameters.dtype_of(self.kernel) or x1.dtype
        matrix = self.kernel.matrix(tf.cast(x1, dtype), tf.cast(x2, dtype))
        return tf.cast(matrix, x1.dtype)

    def get_config(self):
        kernel = parameters.to_config(self.kernel, self.name)
        return config_of(KernelCovariance, self, kernel=kernel)


@register
class FunctionCovariance(Covariance):
    """Any function as a covariance function, called in this layer's type; layers make it.

    It maps [..., n, features] and [..., m, features] to [..., n, m]; variables of a
    `tf.Module` are trained.
    """

    jitter = 1e-6

    def __init__(self, function, **kwargs):
        super().__init__(**kwargs)
        self.function = function

    def call(self, x1, x2):
        first, second = (tf.cast(x, self.variable_dtype) for x in (x1, x2))
        return tf.cast(self.function(first, second), x1.dtype)


def get(identifier):
    """`Covariance` for one, a kernel of TFP, a function of two inputs or a configuration.

    None stands for the squared exponential of variance and lengthscale 1. A TypeError where
    it is none of these.
    """
    if identifier is None:
        return ExponentiatedQuadratic(variance=1.0, lengthscale=1.0)
    if isinstance(identifier, dict):
        return deserialize(identifier)
    if isinstance(identifier, Covariance):
        return identifier
    if isinstance(identifier, parameters.Kernel):
        return KernelCovariance(identifier)
    if callable(identifier):
        return FunctionCovariance(identifier)
    raise TypeError(
        "covariance_fn must be a covariance function, a kernel of tfp.math.psd_kernels or "
        f"a function of two inputs, got {identifier!r}"
    )


@register
class Zeros:
    """Mean function that is 0 everywhere.

    Example:
        >>> Zeros()(tf.ones([2, 3])).numpy()
        array([0., 0.], dtype=float32)
    """

    def __call__(self, inputs):
        """Zeros [...] for inputs [..., features]."""
        return tf.zeros(tf.shape(inputs)[:-1], inputs.dtype)

    def get_config(self):
        return {}

    @classmethod
    def from_config(cls, config):
        return cls(**config)
