"""KL divergence of a posterior over a weight to a prior, in closed form or by draws."""

import tensorflow as tf
from tensorflow_probability import distributions as tfd

from bayes_rl.random_variables.columns import MultivariateNormalColumns
from bayes_rl.random_variables.families import draw_from, elementwise

_HEAVY_TAILED = (tfd.Cauchy, tfd.HalfCauchy)
_POSITIVE = (tfd.HalfCauchy, tfd.LogNormal)
_WHOLE_LINE = (
    tfd.Normal,
    tfd.Cauchy,
    tfd.MultivariateNormalLinearOperator,
    MultivariateNormalColumns,
)


def kl_divergence(posterior, prior, num_samples=1, seed=None):
    """KL divergence, summed over a weight.

        KL = E[log posterior(weight) - log prior(weight)],  weight ~ posterior

    TFP's closed form where it has one; otherwise the mean over draws, whose expectation is
    the KL. A posterior of points, which has no density, costs the expectation of
    -log prior less the entropy of the choice between its points.

    Args:
        posterior: TFP distribution over the weight.
        prior: TFP distribution over the weight, or over one element.
        num_samples: number of draws where there is no closed form.
        seed: stateless seed of these draws, int tensor [2], or None.

    Returns:
        [], in nats.

    Raises:
        ValueError: the KL is infinite.

    Example:
        >>> posterior = tfd.Independent(tfd.Normal([1.0, 0.0], 1.0), 1)
        >>> float(kl_divergence(posterior, tfd.Normal(0.0, 1.0)))
        0.5
    """
    base = elementwise(posterior)
    if type(base) is tfd.Deterministic:
        return minus_log_prior(base.loc, prior)
    if _is_mixture_of_points(base):
        return _of_points(base, prior)
    _check_finite(base, elementwise(prior))
    try:
        return _closed_form(posterior, prior)
    except NotImplementedError:
        prior = _over_weight(prior, posterior)
        draws = draw_from(posterior, [num_samples], seed)
        differences = posterior.log_prob(draws) - prior.log_prob(draws)
        return tf.reduce_sum(differences) / num_samples


def minus_log_prior(point, prior):
    """-log prior(point), summed, []: what a weight without a posterior costs."""
    return -tf.reduce_sum(prior.log_prob(point))


def _closed_form(posterior, prior):
    base, prior_base = elementwise(posterior), elementwise(prior)
    if base.event_shape.rank == 0 and prior_base.event_shape.rank == 0:
        return tf.reduce_sum(tfd.kl_divergence(base, prior_base))
    return tf.reduce_sum(tfd.kl_divergence(posterior, _over_weight(prior, posterior)))


def _over_weight(prior, posterior):
    """The prior with the event and batch shapes of the posterior."""
    if prior.event_shape.rank == posterior.event_shape.rank:
        return prior
    shape = posterior.batch_shape + posterior.event_shape
    whole = tfd.BatchBroadcast(prior, shape)
    if type(prior) in (tfd.Normal, tfd.Cauchy, tfd.HalfCauchy, tfd.LogNormal):
        whole = type(prior)(tf.broadcast_to(prior.loc, shape), prior.scale)
    return tfd.Independent(whole, posterior.event_shape.rank)


def _is_mixture_of_points(base):
    return (
        type(base) is tfd.MixtureSameFamily
        and type(base.components_distribution) is tfd.Deterministic
    )


def _of_points(mixture, prior):
    points = tf.stack(tf.unstack(mixture.components_distribution.loc, axis=-1))
    count = tf.cast(tf.size(points[0]), points.dtype)
    choice = mixture.mixture_distribution
    probs = tf.cast(choice.probs_parameter(), points.dtype)
    costs = tf.stack([minus_log_prior(point, prior) for point in tf.unstack(points)])
    return tf.reduce_sum(probs * costs) - count * tf.cast(choice.entropy(), costs.dtype)


def _check_finite(posterior, prior):
    kinds = f"{type(posterior).__name__} posterior to a {type(prior).__name__} prior"
    if type(posterior) in _HEAVY_TAILED and type(prior) is tfd.Normal:
        raise ValueError(
            f"the KL of a {kinds} is infinite, because the tails of the posterior are "
            "heavier; use a Cauchy prior, or a posterior with lighter tails"
        )
    if isinstance(posterior, _WHOLE_LINE) and type(prior) in _POSITIVE:
        raise ValueError(
            f"the KL of a {kinds} is infinite, because the prior allows no negative "
            "weights; use a half-Cauchy or log-normal posterior"
        )
