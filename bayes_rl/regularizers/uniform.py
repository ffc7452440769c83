"""KL divergence to a flat prior."""

import tensorflow as tf

from bayes_rl.families import draw_from
from bayes_rl.regularizers.base import KLDivergence
from bayes_rl.serialization import register


@register
class UniformKLDivergence(KLDivergence):
    """KL divergence from a posterior over weights to a flat prior of density 1.

        KL = -entropy(posterior)

    A flat prior does not integrate to 1, so that only differences of the KL have a meaning.
    A weight without a posterior costs 0.

    Source: MacKay, 2003, Information Theory, Inference, and Learning Algorithms, section
    33.1 (variational free energy).

    Args: as in `KLDivergence`.

    Example:
        >>> from tensorflow_probability import distributions as tfd
        >>> posterior = tfd.Independent(tfd.Normal([1.0, 0.0], 1.0), 1)
        >>> round(float(UniformKLDivergence()(posterior)), 4)  # -log(2 pi e)
        -2.8379
    """

    def _of_point(self, point):
        return tf.zeros([], point.dtype)

    def _of_posterior(self, posterior, name):
        try:
            return -tf.reduce_sum(posterior.entropy())
        except NotImplementedError:
            draws = draw_from(posterior, [self.num_samples], self._seed(name))
            return tf.reduce_sum(posterior.log_prob(draws)) / self.num_samples
