"""KL divergence to flat priors: uniform, and log-uniform for variational dropout."""

import functools

import numpy as np
import tensorflow as tf

from bayes_rl.random_variables.families import draw_from, normal_parameters
from bayes_rl.regularizers.base import KLDivergence
from bayes_rl.serialization import register


@register
class LogUniformKLDivergence(KLDivergence):
    """KL divergence from a normal posterior over weights to a log-uniform prior.

        KL = sum(integral over y from 0 of 1 - exp(-u / cosh(y)^2)),  u = m^2 / (2 s^2)

    for a posterior Normal(m, s) and the prior density 1 / |weight|. This prior does not
    integrate to 1: the constant is such that the KL of m = 0 is 0. More noise costs less.
    Molchanov et al. fit the same function of alpha = s^2 / m^2, with errors up to 0.01.

    Source: Molchanov et al., 2017, Variational Dropout Sparsifies Deep Neural Networks,
    section 4.2; Hron et al., 2018, Variational Bayesian Dropout: Pitfalls and Fixes,
    proposition 2 (its derivative is Dawson's function).

    Args:
        scale_factor: as in `KLDivergence`.

    Raises:
        ValueError: on call, the weight has no normal posterior.

    Example:
        >>> from tensorflow_probability import distributions as tfd
        >>> posterior = tfd.Independent(tfd.Normal([1.0, 0.0], 1.0), 1)
        >>> round(float(LogUniformKLDivergence()(posterior)), 3)
        0.427
    """

    def __init__(self, scale_factor=1.0):
        super().__init__(scale_factor)

    def _of_point(self, point):
        raise ValueError(
            "log-uniform KL needs a normal posterior, got a weight without a posterior: "
            "its best value would be 0; use a trainable_normal initializer"
        )

    def _of_posterior(self, posterior, name):
        parameters = normal_parameters(posterior)
        if parameters is None:
            raise ValueError(
                f"log-uniform KL needs a normal posterior, got {posterior.name}; use a "
                "trainable_normal initializer"
            )
        mean, stddev = parameters
        return tf.reduce_sum(_integral(0.5 * tf.square(mean / stddev)))


def _integral(u):
    """The integral above: its limits for small and large u, and a series for the rest."""
    share = u / (1.0 + u)
    series = _chebyshev_sum(2.0 * share - 1.0)
    return 0.5 * tf.math.log1p(_SLOPE * u) + share / (1.0 + u) * series


# For large u the integral is log(slope * u) / 2.
_SLOPE = float(4 * np.exp(np.euler_gamma))


def _chebyshev_sum(x):
    """Sum of Chebyshev polynomials at x, from -1 to 1 (Clenshaw, 1955)."""
    *higher, constant = (tf.constant(c, x.dtype) for c in reversed(_coefficients()))
    first, second = tf.zeros_like(x), tf.zeros_like(x)
    for coefficient in higher:
        first, second = 2.0 * x * first - second + coefficient, first
    return x * first - second + constant


@functools.lru_cache(1)
def _coefficients(degree=14):
    y = np.arange(0.0, 30.0, 0.02)

    def remainder(x):
        share = (x + 1) / 2
        u = (share / (1 - share))[:, None]
        heights = -np.expm1(-u / np.cosh(y) ** 2)
        integral = 0.02 * (heights.sum(1) - heights[:, 0] / 2)
        return (integral - 0.5 * np.log1p(_SLOPE * u[:, 0])) / (share * (1 - share))

    return tuple(np.polynomial.chebyshev.chebinterpolate(remainder, degree))


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
