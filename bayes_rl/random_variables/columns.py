"""MultivariateNormalColumns: a random matrix with independent normal columns."""

import tensorflow as tf
import tensorflow_probability as tfp
from tensorflow_probability import distributions as tfd
from tensorflow_probability import util

from bayes_rl.numerics.linear_algebra import stable_cholesky
from bayes_rl.numerics.noise import stateless_normal


class MultivariateNormalColumns(tfd.AutoCompositeTensorDistribution):
    """Matrix [rows, columns] whose columns are independent multivariate normals.

        value[:, c] = loc[:, c] + L noise + projection @ scale[c] @ noise

    with L L^T = shared, the covariance that all columns share, and scale[c] a lower
    triangular or diagonal matrix of column c. Values of Gaussian processes, one a column,
    have this form, and so do their values at inducing inputs (no shared covariance, no
    projection). A draw factorizes the shared covariance only, once, whatever the number of
    columns.

    Args:
        loc: [..., rows, columns].
        shared: [..., rows, rows], positive semidefinite, or None for 0.
        projection: [..., rows, latents], or None for the identity.
        scale_diag: [latents, columns], above 0, or None.
        scale_tril: [columns, latents, latents], lower triangular, or None.
        jitter: [...], of `stable_cholesky`.
        dtype: of draws; moments and densities are at least float32. What is inside is
            computed in the type of `loc`, by default the same.
        name: of the distribution.

    Raises:
        ValueError: no or two scales are given where they are needed.
    """

    def __init__(
        self,
        loc,
        shared=None,
        projection=None,
        scale_diag=None,
        scale_tril=None,
        jitter=1e-6,
        dtype=None,
        name="MultivariateNormalColumns",
    ):
        parameters = dict(locals())
        if scale_diag is not None and scale_tril is not None:
            raise ValueError("give scale_diag or scale_tril, not both")
        if shared is None and scale_diag is None and scale_tril is None:
            raise ValueError(
                "give a shared covariance, a scale_diag or a scale_tril; got none"
            )
        self._loc = tf.convert_to_tensor(loc)
        # These names let it cross a tf.function.
        self._shared = shared
        self._projection = projection
        self._scale_diag = scale_diag
        self._scale_tril = scale_tril
        self._jitter = jitter
        super().__init__(
            dtype=tf.as_dtype(dtype or self._loc.dtype),
            reparameterization_type=tfd.FULLY_REPARAMETERIZED,
            validate_args=False,
            allow_nan_stats=True,
            parameters=parameters,
            name=name,
        )

    @classmethod
    def _parameter_properties(cls, dtype, num_classes=None):
        ranks = {"loc": 2, "shared": 2, "projection": 2, "jitter": 0}
        ranks |= {"scale_diag": 2, "scale_tril": 3}
        return {
            name: util.ParameterProperties(event_ndims=rank) for name, rank in ranks.items()
        }

    @property
    def scale_tril(self):
        """[columns, latents, latents], or None."""
        return self._scale_tril

    def columnwise(self):
        """`tfd.MultivariateNormalTriL` with batch [..., columns] and event [rows]."""
        loc = tf.linalg.matrix_transpose(self._loc)
        is_scale = self._shared is None and self._projection is None
        if is_scale and self._scale_tril is not None:
            factor = self._scale_tril
        elif self._scale is None:
            factor = stable_cholesky(self._shared, self._jitter)[..., tf.newaxis, :, :]
        else:
            jitter = tf.cast(self._jitter, loc.dtype)
            factor = stable_cholesky(self._full(), jitter[..., tf.newaxis])
        return tfd.MultivariateNormalTriL(loc, scale_tril=factor)

    @property
    def _scale(self):
        return self._scale_diag if self._scale_tril is None else self._scale_tril

    def _spread(self):
        """Projected scales, [..., columns, rows, latents]."""
        scale = self._scale_tril
        if scale is None:
            scale = tf.linalg.diag(tf.linalg.matrix_transpose(self._scale_diag))
        if self._projection is None:
            return scale
        return tf.matmul(self._projection[..., tf.newaxis, :, :], scale)

    def _event_shape(self):
        return self._loc.shape[-2:]

    def _event_shape_tensor(self):
        return tf.shape(self._loc)[-2:]

    def _batch_shape(self):
        return self._loc.shape[:-2]

    def _batch_shape_tensor(self):
        return tf.shape(self._loc)[:-2]

    def _sample_n(self, n, seed=None):
        shape, dtype = tf.shape(self._loc), self._loc.dtype
        seed = seed if tf.is_tensor(seed) else tfp.random.sanitize_seed(seed)
        shared_seed, own_seed = tf.unstack(tf.random.experimental.stateless_split(seed))
        value = self._loc
        if self._shared is not None:
            noise = stateless_normal(tf.concat([[n], shape], 0), shared_seed, dtype)
            value += stable_cholesky(self._shared, self._jitter) @ noise
        if self._scale is not None:
            value += self._own_noise(tf.concat([[n], shape[:-2]], 0), own_seed)
        return tf.cast(value, self.dtype)

    def _own_noise(self, leading, seed):
        columns = self._loc.shape[-1]
        latents = self._scale.shape[0 if self._scale_tril is None else -1]
        shape = tf.concat([leading, [latents, columns]], 0)
        noise = stateless_normal(shape, seed, self._loc.dtype)
        if self._scale_tril is None:
            noise *= self._scale_diag
        else:
            noise = tf.einsum("cij,...jc->...ic", self._scale_tril, noise)
        return tf.matmul(self._projection, noise) if self._projection is not None else noise

    def _precise(self, value):
        return tf.cast(value, self.dtype if self.dtype.size >= 4 else tf.float32)

    def _log_prob(self, value):
        value = tf.linalg.matrix_transpose(tf.cast(value, self._loc.dtype))
        return self._precise(tf.reduce_sum(self.columnwise().log_prob(value), -1))

    def _entropy(self):
        entropy = self.columnwise().entropy()
        columns = tf.cast(tf.shape(self._loc)[-1], entropy.dtype)
        return self._precise(tf.reduce_mean(entropy, -1) * columns)

    def _mean(self):
        return self._precise(self._loc)

    def _mode(self):
        return self._mean()

    def _variance(self):
        return self._precise(self._marginal())

    def _covariance(self):
        return self._precise(self._full())

    def _marginal(self):
        variance = tf.zeros_like(self._loc)
        if self._shared is not None:
            # Rounding may leave a variance of -1e-17 where an input was conditioned on.
            diagonal = tf.maximum(tf.linalg.diag_part(self._shared), 0.0)
            variance += diagonal[..., tf.newaxis]
        if self._scale is None:
            return variance
        if self._scale_tril is None:
            own = tf.square(self._scale_diag)
            if self._projection is not None:
                own = tf.matmul(tf.square(self._projection), own)
            return variance + own
        own = tf.reduce_sum(tf.square(self._spread()), -1)
        return variance + tf.linalg.matrix_transpose(own)

    def _full(self):
        rows, columns = tf.unstack(tf.shape(self._loc)[-2:])
        shape = tf.concat([tf.shape(self._loc)[:-2], [columns, rows, rows]], 0)
        covariance = tf.zeros(shape, self._loc.dtype)
        if self._shared is not None:
            covariance += self._shared[..., tf.newaxis, :, :]
        if self._scale is not None:
            spread = self._spread()
            covariance += tf.matmul(spread, spread, transpose_b=True)
        return covariance


@tfd.RegisterKL(MultivariateNormalColumns, MultivariateNormalColumns)
def _kl_columns(first, second, name=None):
    kl = tfd.kl_divergence(first.columnwise(), second.columnwise(), name=name)
    return first._precise(tf.reduce_sum(kl, -1))


@tfd.RegisterKL(MultivariateNormalColumns, tfd.Independent)
def _kl_to_factorized(columns, prior, name=None):
    if not isinstance(prior.distribution, tfd.Normal):
        raise NotImplementedError(
            f"no closed form of the KL from normal columns to {prior.distribution.name}"
        )
    mean = tf.linalg.matrix_transpose(prior.mean())
    stddev = tf.linalg.matrix_transpose(prior.stddev())
    second = tfd.MultivariateNormalDiag(mean, stddev)
    kl = tfd.kl_divergence(columns.columnwise(), second, name=name)
    return columns._precise(tf.reduce_sum(kl, -1))
