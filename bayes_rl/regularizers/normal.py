"""KL divergence to normal priors."""

import tensorflow as tf
from tensorflow_probability import distributions as tfd

from bayes_rl.families import normal_parameters
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
            weight's shape.
        stddev: standard deviation of the prior, above 0; likewise.
        scale_factor: as in `KLDivergence`.
        num_samples: likewise.
        seed: likewise.

    Raises:
        ValueError: `stddev` is not above 0.

    Example:
        >>> from tensorflow_probability import distributions as tfd
        >>> posterior = tfd.Independent(tfd.Normal([1.0, 0.0], 1.0), 1)
        >>> float(NormalKLDivergence()(posterior))
        0.5
    """

    prior_class = tfd.Normal
    parameter_names = ("mean", "stddev")

    def __init__(self, mean=0.0, stddev=1.0, scale_factor=1.0, num_samples=1, seed=None):
        super().__init__(mean, stddev, scale_factor, num_samples, seed)

    def _of_posterior(self, posterior, name):
        parameters = normal_parameters(posterior)
        if parameters is None:
            return super()._of_posterior(posterior, name)
        mean, stddev = parameters
        shape = tf.broadcast_static_shape(mean.shape, stddev.shape)
        prior = self.prior_parameters(shape, mean.dtype)
        return _normal_to_normal(*parameters, *prior)


def _normal_to_normal(mean, stddev, prior_mean, prior_stddev):
    ratio = tf.square(stddev / prior_stddev)
    distance = tf.square((mean - prior_mean) / prior_stddev)
    return 0.5 * tf.reduce_sum(distance + (ratio - 1.0 - tf.math.log(ratio)))


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
        >>> from tensorflow_probability import distributions as tfd
        >>> posterior = tfd.Independent(tfd.Normal([1.0, 2.0], 1.0), 1)
        >>> float(NormalKLDivergenceWithTiedMean()(posterior))
        0.0
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
