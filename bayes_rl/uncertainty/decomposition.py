"""Epistemic and aleatoric parts of predictions that S draws of the weights make.

Epistemic is what the draws disagree on, and more data would reduce; aleatoric is the noise
that each of them predicts. A prediction here is a random variable or a distribution whose
first batch axis is S, as a model gives under `hold` with S draws.
"""

import typing

import tensorflow as tf
import tensorflow_probability as tfp
from tensorflow_probability import distributions as tfd


class Uncertainty(typing.NamedTuple):
    """Two parts of an uncertainty.

    Args:
        epistemic: disagreement of the draws.
        aleatoric: noise that the draws predict, on average.

    Example:
        >>> Uncertainty(1.0, 2.0).total
        3.0
    """

    epistemic: tf.Tensor
    aleatoric: tf.Tensor

    @property
    def total(self):
        """Their sum."""
        return self.epistemic + self.aleatoric


def variance_parts(prediction):
    """Splits the variance of a prediction.

        epistemic = Var_s E[y | weights_s],  aleatoric = E_s Var[y | weights_s]

    The variance over draws divides by S: the total is that of the mixture of the draws.

    Source: Depeweg et al., 2018, Decomposition of Uncertainty in Bayesian Deep Learning for
    Efficient and Risk-sensitive Learning, equation 10.

    Args:
        prediction: [S, ...], random variable or distribution with mean and variance.

    Returns:
        `Uncertainty` of [...], in squared units of the outcome.

    Raises:
        ValueError: it has no axis of draws.

    Example:
        >>> import bayes_rl as ed
        >>> parts = variance_parts(ed.Normal([[1.0], [3.0]], 2.0))
        >>> float(parts.epistemic[0]), float(parts.aleatoric[0])
        (1.0, 4.0)
    """
    distribution = _with_draws(prediction)
    return Uncertainty(
        tf.math.reduce_variance(distribution.mean(), axis=0),
        tf.reduce_mean(distribution.variance(), axis=0),
    )


def entropy_parts(prediction, num_samples=100, seed=None):
    """Splits the entropy of a prediction.

        total = H[E_s p(y | weights_s)],  aleatoric = E_s H[p(y | weights_s)]

    and epistemic is their difference, the mutual information of outcome and weights. In
    closed form for Categorical, OneHotCategorical and Bernoulli; for others the total is
    estimated by samples, in O(S^2 num_samples), and may fall below the aleatoric part.

    Source: Depeweg et al., 2018, Decomposition of Uncertainty in Bayesian Deep Learning for
    Efficient and Risk-sensitive Learning, equation 9.

    Args:
        prediction: [S, ...], random variable or distribution with an entropy.
        num_samples: of the outcome for each draw, where there is no closed form.
        seed: of these samples, two ints or an int tensor [2].

    Returns:
        `Uncertainty` of [*batch_shape] without S, in nats.

    Raises:
        ValueError: it has no axis of draws.

    Example:
        >>> import bayes_rl as ed
        >>> parts = entropy_parts(ed.Bernoulli(probs=[0.0, 1.0]))
        >>> round(float(parts.epistemic), 3), float(parts.aleatoric)
        (0.693, 0.0)
    """
    distribution = _with_draws(prediction)
    probabilities = _probabilities(distribution)
    if probabilities is None:
        aleatoric = tf.reduce_mean(distribution.entropy(), axis=0)
        total = _sampled_entropy(distribution, num_samples, seed)
    else:
        aleatoric = tf.reduce_mean(_entropy(probabilities), axis=0)
        total = _entropy(tf.reduce_mean(probabilities, axis=0))
    return Uncertainty(total - aleatoric, aleatoric)


def mutual_information(prediction, num_samples=100, seed=None):
    """Mutual information of outcome and weights: what observing the outcome would teach.

        I = H[E_s p(y | weights_s)] - E_s H[p(y | weights_s)]

    Between 0 and log S.

    Source: Houlsby et al., 2011, Bayesian Active Learning for Classification and Preference
    Learning, equation 2.

    Args: as in `entropy_parts`.

    Returns:
        [*batch_shape] without S, in nats.

    Example:
        >>> import bayes_rl as ed
        >>> prediction = ed.Categorical(probs=[[0.9, 0.1], [0.1, 0.9]])
        >>> round(float(mutual_information(prediction)), 4)
        0.3681
    """
    return entropy_parts(prediction, num_samples, seed).epistemic


def mean_probabilities(prediction):
    """Probabilities of the classes, averaged over the draws.

    Args:
        prediction: [S, ...], Categorical, OneHotCategorical or Bernoulli.

    Returns:
        [..., classes]; of a Bernoulli those of 0 and 1.

    Raises:
        ValueError: the outcomes are not classes.

    Example:
        >>> import bayes_rl as ed
        >>> mean_probabilities(ed.Bernoulli(probs=[0.0, 0.5])).numpy()
        array([0.75, 0.25], dtype=float32)
    """
    distribution = _with_draws(prediction)
    probabilities = _probabilities(distribution)
    if probabilities is None:
        raise ValueError(
            "prediction must be Categorical, OneHotCategorical or Bernoulli, got "
            f"{type(distribution).__name__}"
        )
    return tf.reduce_mean(probabilities, axis=0)


def _with_draws(prediction):
    is_distribution = isinstance(prediction, tfd.Distribution)
    distribution = prediction if is_distribution else prediction.distribution
    if distribution.batch_shape.rank == 0:
        raise ValueError(
            "the first batch axis of a prediction must be draws of the weights, got "
            f"batch_shape () of {type(distribution).__name__}"
        )
    return distribution


def _probabilities(distribution):
    """[S, ..., classes], or None where outcomes are not classes."""
    if isinstance(distribution, tfd.Bernoulli):
        ones = distribution.probs_parameter()
        return tf.stack([1.0 - ones, ones], axis=-1)
    if isinstance(distribution, (tfd.Categorical, tfd.OneHotCategorical)):
        return distribution.probs_parameter()
    return None


def _entropy(probabilities):
    return -tf.reduce_sum(tf.math.xlogy(probabilities, probabilities), axis=-1)


def _sampled_entropy(distribution, num_samples, seed):
    samples = distribution.sample(num_samples, seed=seed)  # [n, S, ...]
    others = tf.expand_dims(tf.experimental.numpy.moveaxis(samples, 1, 0), 2)
    log_probs = distribution.log_prob(others)  # [S, n, S, ...]
    mixture = tfp.math.reduce_logmeanexp(log_probs, axis=2)
    return -tf.reduce_mean(mixture, axis=[0, 1])
