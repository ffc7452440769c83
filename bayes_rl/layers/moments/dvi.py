"""Deterministic variational inference: moments of activations in place of draws."""

import tensorflow as tf
from tensorflow_probability import distributions as tfd

from bayes_rl.layers import products
from bayes_rl.layers.base import takes
from bayes_rl.layers.dense import DenseReparameterization
from bayes_rl.layers.moments.multivariate_normal import MultivariateNormal
from bayes_rl.layers.moments.rectified import known_moments, rectified_moments, stddev_of
from bayes_rl.layers.moments.weight_moments import LINEAR, product_with, with_bias
from bayes_rl.random_variables.random_variable import RandomVariable
from bayes_rl.serialization import register

_RELU = (tf.keras.activations.relu, tf.nn.relu)


@register
@takes(DenseReparameterization, after_activity_regularizer={"diagonal": False})
class DenseDVI(DenseReparameterization):
    """Dense layer that passes on the moments of its outputs; nothing is drawn.

        mean = E[inputs] @ E[kernel] + E[bias]
        covariance = E[kernel]^T Cov[inputs] E[kernel]
                     + diagonal(E[inputs^2] @ Var[kernel] + Var[bias])

    which is exact for a kernel of independent elements, followed by the exact mean and
    covariance of the rectifier where the activation is ReLU; pre-activations count as
    normal there, which they are in the first layer and nearly are after a wide one.

    Inputs are a Tensor, which is known exactly, or the random variable that another such
    layer returned (any random variable [..., features] will do). The output is a random
    variable: a multivariate normal with `mean()`, `variance()` and `covariance()`; it is
    diagonal where units are independent, as for inputs that are a Tensor.

    A kernel that is held (`bayes_rl.hold`) or set by a tracer has no variance; inputs that
    are a Tensor then give a Tensor, which is equal to that of `DenseReparameterization`.

    Cost: features^2 * units + 10 * units^2 for each example, unless `diagonal`.

    Source: Wu et al., 2018, Deterministic Variational Inference for Robust Bayesian Neural
    Networks, section 3; for ReLU see `moments.rectified_moments`.

    Args:
        units: as in `DenseReparameterization`; posteriors must be normal.
        activation: None, "linear" or "relu".
        diagonal: whether to leave out covariances: the variances of the outputs are then
            as if inputs were independent, at the cost of two ordinary dense layers.
        **kwargs: as in `DenseReparameterization`.

    Raises:
        NotImplementedError: another activation; see `DenseQuadrature`.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> hidden = ed.layers.DenseDVI(8, activation="relu")(tf.ones([2, 3]))
        >>> outputs = ed.layers.DenseDVI(4)(hidden)
        >>> outputs.mean().shape, outputs.covariance().shape
        (TensorShape([2, 4]), TensorShape([2, 4, 4]))
    """

    own_arguments = ("diagonal",)

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        if self.activation not in (*LINEAR, *_RELU):
            raise NotImplementedError(
                "activation of DenseDVI must be linear or relu, got "
                f"{getattr(self.activation, '__name__', self.activation)!r}; "
                "DenseQuadrature takes any"
            )

    def call(self, inputs):
        kernel = self.given(self.kernel_key)
        constant = not isinstance(getattr(inputs, "distribution", inputs), tfd.Distribution)
        if kernel is not None and constant:
            return product_with(self, inputs, kernel)
        moments = self._linear_moments(inputs, kernel)
        if self.activation in _RELU:
            moments = rectified_moments(*moments)
        return RandomVariable(_normal(*moments))

    def _linear_moments(self, inputs, kernel):
        kernel_variance = None
        if kernel is None:
            kernel, kernel_variance = self.moments(self.kernel_key)
        moments = known_moments(inputs)
        inputs, variance, covariance = (
            None if x is None else tf.cast(x, kernel.dtype) for x in moments
        )
        mean = products.dense(inputs, kernel)
        outputs_variance = tf.zeros_like(mean)
        if kernel_variance is not None:
            second = tf.square(inputs) + (0.0 if variance is None else variance)
            outputs_variance = products.dense(second, kernel_variance)
        mean, outputs_variance = with_bias(self, mean, outputs_variance)
        if variance is None:
            return mean, outputs_variance, None
        if self.diagonal:
            return mean, outputs_variance + products.dense(variance, kernel**2), None
        if covariance is None:
            covariance = tf.linalg.diag(variance)
        covariance = _through(kernel, covariance)
        outputs_variance += tf.linalg.diag_part(covariance)
        return mean, outputs_variance, tf.linalg.set_diag(covariance, outputs_variance)


def _through(kernel, covariance):
    """kernel^T covariance kernel, [..., units, units]."""
    if kernel.shape.rank == covariance.shape.rank:  # The same inputs for S kernels.
        kernel = kernel[:, tf.newaxis]
        return tf.matmul(kernel, tf.matmul(covariance, kernel), transpose_a=True)
    half = products.dense(covariance, kernel)  # [..., features, units]
    return products.dense(tf.linalg.matrix_transpose(half), kernel)


def _normal(mean, variance, covariance):
    if covariance is None:
        return tfd.MultivariateNormalDiag(mean, stddev_of(variance))
    return MultivariateNormal(mean, covariance)
