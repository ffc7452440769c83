"""Kernels of `tfp.math.psd_kernels` and other functions as covariance functions."""

import tensorflow as tf

from bayes_rl.layers.processes import psd_kernels
from bayes_rl.layers.processes.covariances import Covariance, ExponentiatedQuadratic
from bayes_rl.serialization import deserialize, register, serialize


@register
class KernelCovariance(Covariance):
    """A kernel of `tfp.math.psd_kernels` as a covariance function; layers make it.

    Args:
        kernel: the kernel; its variables are trained.
        **kwargs: of `tf.keras.layers.Layer`.

    Example:
        >>> import tensorflow_probability as tfp
        >>> kernel = tfp.math.psd_kernels.MaternFiveHalves(length_scale=2.0)
        >>> KernelCovariance(kernel)(tf.zeros([1, 3]), tf.zeros([2, 3])).numpy()
        array([[1., 1.]], dtype=float32)
    """

    def __init__(self, kernel, **kwargs):
        super().__init__(**kwargs)
        self.kernel = (
            psd_kernels.from_config(kernel) if isinstance(kernel, dict) else kernel
        )

    @property
    def feature_ndims(self):
        """Number of axes of one input."""
        return self.kernel.feature_ndims

    @property
    def jitter(self):
        """Relative jitter: kernels with float32 parameters compute in float32."""
        return 1e-6 if self.kernel.dtype == tf.float32 else 1e-8

    def call(self, x1, x2):
        dtype = self.kernel.dtype or x1.dtype
        matrix = self.kernel.matrix(tf.cast(x1, dtype), tf.cast(x2, dtype))
        return tf.cast(matrix, x1.dtype)

    def get_config(self):
        return {**super().get_config(), "kernel": psd_kernels.to_config(self.kernel)}


@register
class FunctionCovariance(Covariance):
    """Any function as a covariance function, called in this layer's type; layers make it.

    Args:
        function: maps [..., n, features] and [..., m, features] to [..., n, m]; variables
            are trained if it is a `tf.Module`.
        **kwargs: of `tf.keras.layers.Layer`.

    Example:
        >>> linear = FunctionCovariance(lambda x1, x2: x1 @ tf.transpose(x2))
        >>> linear(tf.ones([1, 3]), tf.ones([2, 3])).numpy()
        array([[3., 3.]], dtype=float32)
    """

    jitter = 1e-6

    def __init__(self, function, **kwargs):
        super().__init__(**kwargs)
        self.function = deserialize(function) if isinstance(function, dict) else function

    def call(self, x1, x2):
        first, second = (tf.cast(x, self.variable_dtype) for x in (x1, x2))
        return tf.cast(self.function(first, second), x1.dtype)

    def get_config(self):
        return {**super().get_config(), "function": serialize(self.function)}


def get(identifier):
    """Covariance function for an object, a configuration, or None.

    Args:
        identifier: `Covariance`, kernel of `tfp.math.psd_kernels`, function of two inputs,
            configuration, or None for the squared exponential of variance and
            lengthscale 1.

    Returns:
        A `Covariance`.

    Raises:
        TypeError: it is none of these.

    Example:
        >>> get(None).lengthscale
        1.0
    """
    if identifier is None:
        return ExponentiatedQuadratic(variance=1.0, lengthscale=1.0)
    if isinstance(identifier, dict):
        return deserialize(identifier)
    if isinstance(identifier, Covariance):
        return identifier
    if isinstance(identifier, psd_kernels.Kernel):
        return KernelCovariance(identifier)
    if callable(identifier):
        return FunctionCovariance(identifier)
    raise TypeError(
        "covariance_fn must be a covariance function, a kernel of tfp.math.psd_kernels or "
        f"a function of two inputs, got {identifier!r}"
    )
