"""KL divergence to normal priors."""

import tensorflow as tf
from tensorflow_probability import distributions as tfd

from bayes_rl import checks
from bayes_rl.regularizers.base import LocationScaleKLDivergence, shape_of
from bayes_rl.serialization import register


@register
class NormalKLDivergence(LocationScaleKLDivergence):
    """KL divergence from a posterior over weights to a normal prior.

        KL = sum(log(stddev / s) + (s^2 + (m - mean)^2) / (2 stddev^2) - 1/2)

    for a posterior Normal(m, s), in closed form. Other posteriors: TFP's closed form where
    it has one, else log posterior - log prior at draws, whose mean is the KL. A weight
    without a posterior costs -sum(log prior), so that its minimum is the posterior mode.

    Source: Kingma and Welling, 2014, Auto-Encoding Variational Bayes, appendix B.

    Args:
        mean: mean of the prior: a number, an array that broadcasts to the weight, a
            `tf.Variable`, a Keras initializer that is not random, or a function of the
            weight's shape. A variable is read at every call, but trained by nobody who
            trains the layer's weights: see `TrainableNormalKLDivergenceStdDev`.
        stddev: standard deviation of the prior, above 0; likewise.
        scale_factor, num_samples, seed: as in `KLDivergence`.

    Raises:
        ValueError: `stddev` is not above 0.

    Example:
        >>> posterior = tfd.Independent(tfd.Normal([1.0, 0.0], 1.0), 1)
        >>> float(NormalKLDivergence()(posterior))
        0.5
    """

    prior_class = tfd.Normal
    parameter_names = ("mean", "stddev")

    def __init__(self, mean=0.0, stddev=1.0, scale_factor=1.0, num_samples=1, seed=None):
        super().__init__(mean, stddev, scale_factor, num_samples, seed)


@register
class NormalKLDivergenceWithTiedMean(NormalKLDivergence):
    """KL divergence to a normal prior around the posterior's own mean.

        KL = sum(log(stddev / s) + s^2 / (2 stddev^2) - 1/2)

    for a posterior Normal(m, s): it sets the noise of the weights, and leaves their means
    free.

    Source: Kingma et al., 2015, Variational Dropout and the Local Reparameterization
    Trick, section 3.2 (the KL does not depend on the means).

    Args: as in `NormalKLDivergence`, without the mean.

    Example:
        >>> posterior = tfd.Independent(tfd.Normal([1.0, 2.0], 0.5), 1)
        >>> round(float(NormalKLDivergenceWithTiedMean()(posterior)), 4)
        0.6363
    """

    def __init__(self, stddev=1.0, scale_factor=1.0, num_samples=1, seed=None):
        super().__init__(0.0, stddev, scale_factor, num_samples, seed)

    def _of_point(self, point):
        _, stddev = self.prior_parameters(point.shape, point.dtype)
        return -tf.reduce_sum(tfd.Normal(point, stddev).log_prob(point))

    def _of_posterior(self, posterior, name):
        _, stddev = self.prior_parameters(shape_of(posterior), posterior.dtype)
        prior = tfd.Normal(posterior.mean(), stddev)
        return self._divergence(posterior, prior, name)


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
        scale_factor, num_samples, seed: as in `KLDivergence`.

    Raises:
        ValueError: `variance_concentration` or `variance_scale` is not above 0.

    Example:
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
        super().__init__(mean, 1.0, scale_factor, num_samples, seed)
        checks.above_0(variance_concentration=variance_concentration)
        checks.above_0(variance_scale=variance_scale)
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
