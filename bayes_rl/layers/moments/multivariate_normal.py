"""MultivariateNormal: given by its covariance, which it factorizes only if it must."""

import numpy as np
import tensorflow as tf
from tensorflow_probability import distributions as tfd
from tensorflow_probability import util


class MultivariateNormal(tfd.AutoCompositeTensorDistribution):
    """Multivariate normal distribution whose covariance may be singular.

    `mean`, `variance` and `covariance` are those that were given. Only draws, log
    probabilities, entropy and KL factorize, after adding 100 units of rounding of the
    largest variance to the diagonal.
    """

    def __init__(self, loc, covariance_matrix, name="MultivariateNormal"):
        parameters = dict(locals())
        with tf.name_scope(name) as name:
            self.loc = tf.convert_to_tensor(loc)
            self.covariance_matrix = tf.convert_to_tensor(covariance_matrix, self.loc.dtype)
            super().__init__(
                dtype=self.loc.dtype,
                reparameterization_type=tfd.FULLY_REPARAMETERIZED,
                validate_args=False,
                allow_nan_stats=True,
                parameters=parameters,
                name=name,
            )

    @classmethod
    def _parameter_properties(cls, dtype, num_classes=None):
        return {
            "loc": util.ParameterProperties(event_ndims=1),
            "covariance_matrix": util.ParameterProperties(event_ndims=2),
        }

    def factorized(self):
        """The same as a `tfd.MultivariateNormalTriL`, with a regular covariance."""
        unit = np.finfo(self.dtype.as_numpy_dtype).eps
        largest = tf.reduce_max(self._variance(), axis=-1, keepdims=True)
        diagonal = self._variance() + 100 * unit * largest + unit**2
        regular = tf.linalg.set_diag(self.covariance_matrix, diagonal)
        return tfd.MultivariateNormalTriL(self.loc, tf.linalg.cholesky(regular))

    def _event_shape(self):
        return self.loc.shape[-1:]

    def _event_shape_tensor(self):
        return tf.shape(self.loc)[-1:]

    def _mean(self):
        return tf.identity(self.loc)

    def _mode(self):
        return tf.identity(self.loc)

    def _covariance(self):
        return tf.identity(self.covariance_matrix)

    def _variance(self):
        return tf.linalg.diag_part(self.covariance_matrix)

    def _sample_n(self, n, seed=None):
        return self.factorized().sample(n, seed=seed)

    def _log_prob(self, value):
        return self.factorized().log_prob(value)

    def _entropy(self):
        return self.factorized().entropy()


def _factorized(distribution):
    known = isinstance(distribution, MultivariateNormal)
    return distribution.factorized() if known else distribution


@tfd.RegisterKL(MultivariateNormal, MultivariateNormal)
@tfd.RegisterKL(MultivariateNormal, tfd.MultivariateNormalLinearOperator)
@tfd.RegisterKL(tfd.MultivariateNormalLinearOperator, MultivariateNormal)
def _kl_divergence(first, second, name=None):
    return tfd.kl_divergence(_factorized(first), _factorized(second), name=name)
