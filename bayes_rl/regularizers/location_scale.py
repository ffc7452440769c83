"""KL divergence to Cauchy, half-Cauchy and log-normal priors."""

from tensorflow_probability import distributions as tfd

from bayes_rl.regularizers.base import LocationScaleKLDivergence
from bayes_rl.serialization import register


class _LocationScale(LocationScaleKLDivergence):
    def __init__(self, loc=0.0, scale=1.0, scale_factor=1.0, num_samples=1, seed=None):
        super().__init__(loc, scale, scale_factor, num_samples, seed)


@register
class CauchyKLDivergence(_LocationScale):
    """KL divergence from a posterior over weights to a Cauchy prior.

        KL = sum(log(((s + scale)^2 + (l - loc)^2) / (4 s scale)))

    for a posterior Cauchy(l, s); for others log posterior - log prior at draws, whose mean
    is the KL.

    Source: Chyzak and Nielsen, 2019, A Closed-Form Formula for the Kullback-Leibler
    Divergence between Cauchy Distributions, equation 8.

    Args:
        loc: median of the prior: a number, an array that broadcasts to the weight, a
            `tf.Variable`, a Keras initializer that is not random, or a function of the
            weight's shape.
        scale: of the prior, above 0; likewise.
        scale_factor, num_samples, seed: as in `KLDivergence`.

    Raises:
        ValueError: `scale` is not above 0.

    Example:
        >>> posterior = tfd.Independent(tfd.Cauchy([1.0], 2.0), 1)
        >>> round(float(CauchyKLDivergence()(posterior)), 4)  # log(10 / 8)
        0.2231
    """

    prior_class = tfd.Cauchy


@register
class HalfCauchyKLDivergence(_LocationScale):
    """KL divergence from a posterior over positive weights to a half-Cauchy prior.

        KL = E[log posterior(weight) - log prior(weight)],  weight ~ posterior

    estimated at draws. It is infinite where the posterior allows weights below `loc`.

    Source: Carvalho, Polson and Scott, 2009, Handling Sparsity via the Horseshoe, section
    1.1 (the prior).

    Args and errors: as in `CauchyKLDivergence`; `loc` is the least value.

    Example:
        >>> import tensorflow as tf
        >>> posterior = tfd.Independent(tfd.HalfCauchy([0.0], 2.0), 1)
        >>> cost = HalfCauchyKLDivergence(num_samples=10_000, seed=1)(posterior)
        >>> bool(abs(cost - tf.math.log(9 / 8)) < 0.02)  # that of two Cauchys at one place
        True
    """

    prior_class = tfd.HalfCauchy


@register
class LogNormalKLDivergence(_LocationScale):
    """KL divergence from a posterior over positive weights to a log-normal prior.

        KL = sum(log(scale / s) + (s^2 + (l - loc)^2) / (2 scale^2) - 1/2)

    for a posterior LogNormal(l, s): that of the logarithms.

    Source: Louizos et al., 2017, Bayesian Compression for Deep Learning, appendix A.

    Args: as in `CauchyKLDivergence`; `loc` and `scale` are those of the logarithm.

    Example:
        >>> posterior = tfd.Independent(tfd.LogNormal([1.0, 0.0], 1.0), 1)
        >>> float(LogNormalKLDivergence()(posterior))
        0.5
    """

    prior_class = tfd.LogNormal
