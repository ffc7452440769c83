"""GaussianProcessBase: what exact and sparse Gaussian processes share."""

import tensorflow as tf

from bayes_rl.columns import MultivariateNormalColumns
from bayes_rl.distributions import make_random_variable
from bayes_rl.layers import products
from bayes_rl.layers.processes import covariance_adapters, mean_functions, parameters
from bayes_rl.linear_algebra import double, solve_lower, stable_cholesky
from bayes_rl.serialization import serialize

_random_columns = make_random_variable(MultivariateNormalColumns)


class GaussianProcessBase(tf.keras.layers.Layer):
    """Layer of independent Gaussian processes, one a unit.

    Linear algebra is in float64 whatever the layer's type, with a jitter of 1e-8 of the
    variance (1e-6 for kernels with float32 parameters), more where that is not enough.

    Args:
        units: number of processes, the size of the last output axis, at least 1.
        mean_fn: maps inputs [..., n, features] to [..., n] or [..., n, units]; None for 0.
        covariance_fn: see `bayes_rl.layers.processes.covariance_adapters.get`.
        **kwargs: of `tf.keras.layers.Layer`.

    Raises:
        ValueError: `units` is below 1.
    """

    def __init__(self, units, mean_fn=None, covariance_fn=None, **kwargs):
        if units < 1:
            raise ValueError(f"units must be at least 1, got {units}")
        # Inputs rounded to float16 are too coarse for a covariance function.
        super().__init__(**{"autocast": False, **kwargs})
        self.units = units
        self.mean_fn = mean_functions.get(mean_fn)
        self.covariance_fn = covariance_adapters.get(covariance_fn)

    def _points(self, inputs):
        rank = self.covariance_fn.feature_ndims + 1
        if inputs.shape.rank < rank:
            raise ValueError(
                f"layer {self.name!r} takes inputs [..., batch, *features] of rank {rank} "
                f"at least, got shape {inputs.shape}"
            )
        return double(inputs)

    def _mean(self, points):
        """Prior mean, [..., n, 1] or [..., n, units]."""
        mean = double(self.mean_fn(tf.cast(points, self._output_dtype())))
        rank = points.shape.rank - self.covariance_fn.feature_ndims
        return mean[..., tf.newaxis] if mean.shape.rank == rank else mean

    def _output_dtype(self):
        dtype = tf.as_dtype(self.variable_dtype)
        return dtype if dtype.size >= 4 else tf.float32

    def _jitter(self, covariance):
        variance = tf.reduce_mean(tf.linalg.diag_part(covariance), -1)
        return self.covariance_fn.jitter * tf.stop_gradient(variance)

    def _factor(self, anchors, noise_variance=0.0):
        """Lower triangular L of the covariance at inputs [..., m, features]."""
        covariance = self._noisy(anchors, noise_variance)
        return stable_cholesky(covariance, self._jitter(covariance))

    def _noisy(self, points, noise_variance):
        covariance = self.covariance_fn(points, points)
        noise = parameters.value_of(noise_variance, covariance.dtype)
        diagonal = tf.linalg.diag_part(covariance) + noise
        return tf.linalg.set_diag(covariance, diagonal)

    def _prior(self, points, noise_variance):
        covariance = self._noisy(points, noise_variance)
        shape = [*products.sizes(covariance)[:-1], self.units]
        loc = tf.broadcast_to(self._mean(points), shape)
        return self._random_variable(loc, covariance, self._jitter(covariance))

    def _given(self, points, anchors, factor, whitened, hold=False, **scale):
        """Outputs given the values at anchors, which are mean + L whitened.

            projection = K(points, anchors) L^-T
            outputs ~ Normal(mean + projection whitened, K - projection projection^T)

        and, where whitened has a scale, its part added.

        Args:
            points: [..., n, features].
            anchors: [..., m, features].
            factor: L, [..., m, m].
            whitened: [m, units] or [S, m, units].
            hold: whether the value is the mean, not a draw.
            **scale: `scale_diag` or `scale_tril` of whitened.

        Returns:
            Random variable [..., n, units].
        """
        cross = self.covariance_fn(anchors, points)
        projection = tf.linalg.matrix_transpose(solve_lower(factor, cross))
        prior = self.covariance_fn(points, points)
        explained = tf.matmul(projection, projection, transpose_b=True)
        loc = self._mean(points) + products.dense(projection, whitened)
        jitter = self._jitter(prior)
        if scale:
            scale = {**scale, "projection": projection}
        return self._random_variable(loc, prior - explained, jitter, hold, **scale)

    def _random_variable(self, loc, covariance, jitter, hold=False, **scale):
        dtype = self._output_dtype()
        if hold:
            scale["value"] = tf.cast(loc, dtype)
        return _random_columns(
            loc, covariance, jitter=jitter, dtype=dtype, name=self.name, **scale
        )

    def compute_output_shape(self, input_shape):
        shape = tf.TensorShape(input_shape)
        return shape[: -self.covariance_fn.feature_ndims].concatenate(self.units)

    def get_config(self):
        return {
            **super().get_config(),
            "units": self.units,
            "mean_fn": serialize(self.mean_fn),
            "covariance_fn": serialize(self.covariance_fn),
        }
