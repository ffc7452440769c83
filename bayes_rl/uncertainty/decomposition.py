"""Epistemic and aleatoric parts of predictions that S draws of the weights make.

Epistemic is what the draws disagree on, and more data would reduce; aleatoric is the noise
that each of them predicts. A prediction here is a random variable or a distribution whose
first batch axis is S, as a model gives under `hold` with S draws. Where outcomes are
classes, it may be an array of their probabilities, as `bayes_rl.predict` gives of softmax.
"""

import typing

import tensorflow as tf
import tensorflow_probability as tfp

from bayes_rl import checks
from bayes_rl.uncertainty.arguments import check_probabilities, numbers, with_classes
from bayes_rl.uncertainty.predictions import distribution_of, is_array, probabilities_of


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
        ValueError: it is no distribution, or has no axis of draws.

    Example:
        >>> import bayes_rl as ed
        >>> parts = variance_parts(ed.Normal([[1.0], [3.0]], 2.0))
        >>> float(parts.epistemic[0]), float(parts.aleatoric[0])
        (1.0, 4.0)
    """
    distribution = distribution_of(prediction)
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
        prediction: [S, ...], random variable or distribution with an entropy, or
            probabilities [S, ..., classes], of a sigmoid [S, ..., 1].
        num_samples: of the outcome for each draw, where there is no closed form.
        seed: of these samples, two ints or an int tensor [2].

    Returns:
        `Uncertainty` of [*batch_shape] without S, in nats.

    Raises:
        ValueError: it has no axis of draws, numbers are no probabilities, or `num_samples`
            is below 1.

    Example:
        >>> import bayes_rl as ed
        >>> parts = entropy_parts(ed.Bernoulli(probs=[0.0, 1.0]))
        >>> round(float(parts.epistemic), 3), float(parts.aleatoric)
        (0.693, 0.0)
    """
    checks.at_least_1(num_samples=num_samples)
    distribution, probabilities = _classes_of(prediction)
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
        >>> model = tf.keras.Sequential([ed.layers.DenseFlipout(3, activation="softmax")])
        >>> mutual_information(ed.predict(model, tf.ones([5, 4]), 10, verbose=0)).shape
        TensorShape([5])
    """
    return entropy_parts(prediction, num_samples, seed).epistemic


def mean_probabilities(prediction):
    """Probabilities of the classes, averaged over the draws.

    Args:
        prediction: [S, ...], Categorical, OneHotCategorical or Bernoulli, or probabilities
            [S, ..., classes], of a sigmoid [S, ..., 1].

    Returns:
        [..., classes]; of a Bernoulli those of 0 and 1.

    Raises:
        ValueError: the outcomes are not classes, or numbers are no probabilities.

    Example:
        >>> import bayes_rl as ed
        >>> mean_probabilities(ed.Bernoulli(probs=[0.0, 0.5])).numpy()
        array([0.75, 0.25], dtype=float32)
    """
    distribution, probabilities = _classes_of(prediction)
    if probabilities is None:
        raise ValueError(
            "prediction must be Categorical, OneHotCategorical or Bernoulli, got "
            f"{type(distribution).__name__}"
        )
    return tf.reduce_mean(probabilities, axis=0)


def _classes_of(prediction):
    """Distribution, and probabilities [S, ..., classes]; None for what there is not."""
    if not is_array(prediction):
        distribution = distribution_of(prediction)
        return distribution, probabilities_of(distribution)
    probabilities = numbers("prediction", prediction)
    if probabilities.shape.rank is not None and probabilities.shape.rank < 2:
        raise ValueError(
            "probabilities of a prediction must have shape [S, ..., classes], or "
            f"[S, ..., 1] of a sigmoid, got {probabilities.shape}"
        )
    probabilities = with_classes(probabilities)
    check_probabilities(probabilities)
    return None, probabilities


def _entropy(probabilities):
    return -tf.reduce_sum(tf.math.xlogy(probabilities, probabilities), axis=-1)


def _sampled_entropy(distribution, num_samples, seed):
    samples = distribution.sample(num_samples, seed=seed)  # [n, S, ...]
    others = tf.expand_dims(tf.experimental.numpy.moveaxis(samples, 1, 0), 2)
    log_probs = distribution.log_prob(others)  # [S, n, S, ...]
    mixture = tfp.math.reduce_logmeanexp(log_probs, axis=2)
    return -tf.reduce_mean(mixture, axis=[0, 1])
