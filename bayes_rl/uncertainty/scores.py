"""Scores of predictions: proper ones, which the truth has lowest, and calibration.

They are computed in float32, or float64 where predictions are. What is NaN makes NaN.
"""

import math
import numbers

import tensorflow as tf
import tensorflow_probability as tfp

from bayes_rl import checks
from bayes_rl.uncertainty.arguments import draws_and_targets, labels_and_probabilities
from bayes_rl.uncertainty.predictions import distribution_of, outcomes_of


def log_score(prediction, targets):
    """Negative log density of the targets under the average of the draws.

        score = -log mean_s p(target | weights_s)

    Source: Gneiting and Raftery, 2007, Strictly Proper Scoring Rules, Prediction, and
    Estimation, section 4.1.

    Args:
        prediction: [S, ...], random variable or distribution whose first axis is draws of
            the weights.
        targets: [...]; of outcomes [S, ...], [..., 1] too, as of [S, ..., 1] [...].

    Returns:
        [*batch_shape] without S, and without an axis of size 1 that targets have not, in
        nats.

    Raises:
        ValueError: the prediction is no distribution or has no axis of draws; the targets
            have another shape, or are no outcomes.

    Example:
        >>> import bayes_rl as ed
        >>> score = log_score(ed.Bernoulli(probs=[0.25, 0.75]), 1)
        >>> round(float(score), 3)
        0.693
    """
    distribution = distribution_of(prediction)
    targets, has_column = outcomes_of(distribution, targets)
    log_probs = distribution.log_prob(targets[tf.newaxis])
    if has_column:
        log_probs = log_probs[..., 0]
    return -tfp.math.reduce_logmeanexp(log_probs, axis=0)


def continuous_ranked_probability_score(draws, targets):
    """Continuous ranked probability score of draws from a predictive distribution.

        score = mean |draw - target| - mean |draw - draw'| / 2

    where the second mean is over pairs of different draws, which makes it unbiased. For one
    draw it is the absolute error.

    Source: Gneiting and Raftery, 2007, Strictly Proper Scoring Rules, Prediction, and
    Estimation, equation 21; Ferro, 2014, Fair scores for ensemble forecasts, equation 8.

    Args:
        draws: [S, ...], of the outcome.
        targets: [...]. Where draws or they have one more axis in the end, of size 1, as the
            outputs of `Dense(1)` have, it is dropped.

    Returns:
        [...], in units of the outcome.

    Raises:
        ValueError: draws and targets have other shapes, or are no numbers.

    Example:
        >>> float(continuous_ranked_probability_score([0.0, 2.0], 1.0))
        0.0
    """
    draws, targets = draws_and_targets(draws, targets)
    # About the target: the spread of draws far from 0 is not lost in rounding.
    errors = tf.sort(draws - targets, axis=0)
    count = tf.cast(tf.shape(errors)[0], errors.dtype)
    # Of the sorted draws, number i is the greater in i pairs and the less in the rest.
    rank = tf.range(tf.shape(errors)[0])
    weight = 2.0 * tf.cast(rank, errors.dtype) - count + 1.0
    spread = tf.tensordot(weight, errors, 1) / tf.maximum(count * (count - 1.0), 1.0)
    return tf.reduce_mean(tf.abs(errors), axis=0) - spread


def expected_calibration_error(labels, probabilities, num_bins=10):
    """Mean gap between confidence and accuracy, over bins of equal width of confidence.

        error = sum over bins of share * |accuracy - mean confidence|

    Source: Guo et al., 2017, On Calibration of Modern Neural Networks, equation 3.

    Args:
        labels: [N] or [N, 1], whole numbers of any type.
        probabilities: [N, classes], such as `mean_probabilities` of the draws; of a sigmoid
            [N, 1], those of class 1 of two.
        num_bins: number of bins of [0, 1], at least 1.

    Returns:
        [], between 0 and 1.

    Raises:
        ValueError: labels have another shape or are no classes, probabilities are none,
            there are no labels, or `num_bins` is no whole number above 0.

    Example:
        >>> float(expected_calibration_error([0, 1], [[1.0, 0.0], [1.0, 0.0]]))
        0.5
    """
    checks.at_least_1(num_bins=num_bins)
    if num_bins % 1:
        raise ValueError(f"num_bins must be a whole number, got {num_bins}")
    labels, probabilities = labels_and_probabilities(labels, probabilities)
    _check_some("labels", labels)
    confidence = tf.reduce_max(probabilities, axis=-1)
    is_right = tf.cast(tf.argmax(probabilities, axis=-1) == labels, confidence.dtype)
    # A maximum passes NaN over.
    is_right += 0.0 * tf.reduce_sum(probabilities, axis=-1)
    # Probabilities that were rounded to beyond 1 are in the last bin.
    bins = tf.cast(tf.math.ceil(confidence * num_bins), tf.int32) - 1
    bins = tf.clip_by_value(bins, 0, num_bins - 1)
    # share * |accuracy - confidence| of a bin is the size of its sum of differences.
    sums = tf.math.unsorted_segment_sum(is_right - confidence, bins, num_bins)
    return tf.reduce_sum(tf.abs(sums)) / tf.cast(tf.size(labels), sums.dtype)


def _check_some(name, tensor):
    if tensor.shape.num_elements() == 0:
        raise ValueError(f"{name} must not be empty, got shape {tensor.shape}")


def brier_score(labels, probabilities):
    """Squared distance of the probabilities from the outcome.

        score = sum over classes of (probability - [class is label])^2

    Source: Brier, 1950, Verification of Forecasts Expressed in Terms of Probability.

    Args:
        labels: [...] or [..., 1], whole numbers of any type.
        probabilities: [..., classes]; of a sigmoid [..., 1], those of class 1 of two.

    Returns:
        [...], between 0 and 2; 0 is perfect.

    Raises:
        ValueError: labels have another shape or are no classes, or probabilities are none.

    Example:
        >>> brier_score([0, 1], [[1.0, 0.0], [0.5, 0.5]]).numpy()
        array([0. , 0.5], dtype=float32)
    """
    labels, probabilities = labels_and_probabilities(labels, probabilities)
    outcome = tf.one_hot(labels, probabilities.shape[-1], dtype=probabilities.dtype)
    return tf.reduce_sum(tf.square(probabilities - outcome), axis=-1)


def interval_coverage(draws, targets, level=0.9):
    """Share of targets inside the central interval of the draws.

        ends at positions (S + 1) (1 - level) / 2 and (S + 1) (1 + level) / 2

    of the sorted draws, where a target that is one more draw lies before or behind each of
    them with equal chance: so the share is `level` in expectation, for every S, where
    predictions are calibrated. An end between two draws, or beyond the outermost, counts
    by its distances to those beside it.

    Source: Hyndman and Fan, 1996, Sample Quantiles in Statistical Packages, definition 6.

    Args:
        draws: [S, ...], of the outcome.
        targets: [...]. Where draws or they have one more axis in the end, of size 1, as the
            outputs of `Dense(1)` have, it is dropped.
        level: probability of the interval, between 0 and 1.

    Returns:
        [], between 0 and 1.

    Raises:
        ValueError: `level` is not between 0 and 1, draws and targets have other shapes or
            are no numbers, or there are no targets.

    Example:
        >>> float(interval_coverage([[0.0, 0.0], [1.0, 1.0]], [0.5, 3.0], level=1 / 3))
        0.5
    """
    if not (isinstance(level, numbers.Real) and 0 < level < 1):
        raise ValueError(f"level must be a number between 0 and 1, got {level}")
    draws, targets = draws_and_targets(draws, targets)
    _check_some("targets", draws[0])
    counts = tf.reduce_sum(tf.cast([draws <= targets, draws < targets], draws.dtype), 1)
    position = tf.cast(tf.shape(draws)[0] + 1, draws.dtype) * (1.0 - level) / 2.0
    # The low end is passed by as many draws; the high end is its mirror image.
    low = _share_reached(counts[0], position)
    above = tf.cast(tf.shape(draws)[0], draws.dtype) - counts[1]
    share = low + _share_reached(above, position) - 1.0
    has_nan = tf.reduce_any(tf.math.is_nan(draws) | tf.math.is_nan(targets), axis=0)
    return tf.reduce_mean(tf.where(has_nan, tf.cast(math.nan, share.dtype), share))


def _share_reached(count, position):
    """How far a count has come from the whole number below a position to that above it."""
    below = tf.floor(position)
    reached = tf.cast([count >= below, count >= below + 1.0], count.dtype)
    return reached[0] + (position - below) * (reached[1] - reached[0])
