"""KL divergence to a normal prior whose variance is the best one."""

import tensorflow as tf
from tensorflow_probability import distributions as tfd

from bayes_rl.regularizers.base import shape_of
from bayes_rl.regularizers.normal import NormalKLDivergence
from bayes_rl.serialization import register


@register
class NormalEmpiricalBayesKLDivergence(NormalKLDivergence):
    """KL divergence to a normal prior with the most probable variance.

        cost = min over v of KL(posterior || Normal(mean, v)) - log InverseGamma(v; a, b)

    over one variance v for all n elements of the weight, which is

        v = (sum(s^2 + (m - mean)^2) + 2 b) / (n + 2 a + 2)

    for a posterior with means m and stddevs s.

    Source: Wu et al., 2018, Deterministic Variational Inference for Robust Bayesian Neural
    Networks, section 4.

    Args:
        mean: of the prior, as in `NormalKLDivergence`.
        variance_concentration: a, above 0.
        variance_scale: b, above 0.
        scale_factor: as in `KLDivergence`.
        num_samples: likewise.
        seed: likewise.

    Raises:
        ValueError: `variance_concentration` or `variance_scale` is not above 0.

    Example:
        >>> from tensorflow_probability import distributions as tfd
        >>> posterior = tfd.Independent(tfd.Normal([1.0, -1.0], 1.0), 1)
        >>> regularizer = NormalEmpiricalBayesKLDivergence(0.0, 1.0, 1.0)
        >>> float(regularizer.variance(posterior))
        1.0
    """

    def __init__(
        self,
        mean=0.0,
        variance_concentration=2.01,
        variance_scale=0.101,
        scale_factor=1.0,
        num_samples=1,
        seed=None,
    ):
        arguments = {
            "variance_concentration": variance_concentration,
            "variance_scale": variance_scale,
        }
        for name, value in arguments.items():
            if value <= 0:
                raise ValueError(f"{name} must be above 0, got {value}")
        super().__init__(mean, 1.0, scale_factor, num_samples, seed)
        self.variance_concentration = variance_concentration
        self.variance_scale = variance_scale

    def variance(self, posterior):
        """The best variance of the prior, [].

        Args:
            posterior: TFP distribution over the weight, with a mean and a variance.
        """
        shape = shape_of(posterior)
        mean, _ = self.prior_parameters(shape, posterior.dtype)
        moments = posterior.variance() + tf.square(posterior.mean() - mean)
        total = tf.reduce_sum(tf.broadcast_to(moments, shape)) + 2 * self.variance_scale
        return total / (shape.num_elements() + 2 * self.variance_concentration + 2)

    def _of_posterior(self, posterior, name):
        variance = self.variance(posterior)
        mean, _ = self.prior_parameters(shape_of(posterior), posterior.dtype)
        prior = tfd.Normal(mean, tf.sqrt(variance))
        cost = self._divergence(posterior, prior, name)
        return cost - self._hyper_prior(variance.dtype).log_prob(variance)

    def _of_point(self, point):
        return self._of_posterior(tfd.Deterministic(point), "")

    def _hyper_prior(self, dtype):
        return tfd.InverseGamma(
            tf.constant(self.variance_concentration, dtype),
            tf.constant(self.variance_scale, dtype),
        )
