"""Calibration: whether events predicted with probability p happen with frequency p."""

import tensorflow as tf
import tensorflow_probability as tfp


def expected_calibration_error(labels, probabilities, num_bins=10):
    """Mean gap between confidence and accuracy, over bins of equal width of confidence.

        error = sum over bins of share * |accuracy - mean confidence|

    Source: Guo et al., 2017, On Calibration of Modern Neural Networks, equation 3.

    Args:
        labels: [N], int.
        probabilities: [N, classes], such as `mean_probabilities` of the draws.
        num_bins: number of bins of [0, 1].

    Returns:
        [], between 0 and 1.

    Example:
        >>> float(expected_calibration_error([0, 1], [[1.0, 0.0], [1.0, 0.0]]))
        0.5
    """
    return tfp.stats.expected_calibration_error(
        num_bins, tf.math.log(probabilities), tf.cast(labels, tf.int32)
    )


def brier_score(labels, probabilities):
    """Squared distance of the probabilities from the outcome.

        score = sum over classes of (probability - [class is label])^2

    That is `tfp.stats.brier_score` plus 1, so that 0 is perfect.

    Source: Brier, 1950, Verification of Forecasts Expressed in Terms of Probability.

    Args:
        labels: [...], int.
        probabilities: [..., classes].

    Returns:
        [...], between 0 and 2.

    Example:
        >>> brier_score([0, 1], [[1.0, 0.0], [0.5, 0.5]]).numpy()
        array([0. , 0.5], dtype=float32)
    """
    logits = tf.math.log(probabilities)
    return 1.0 + tfp.stats.brier_score(tf.cast(labels, tf.int32), logits)


def interval_coverage(draws, targets, level=0.9):
    """Share of targets inside the central interval of the draws.

    Equal to `level` in expectation, up to 1 / S, where predictions are calibrated.

    Args:
        draws: [S, ...], of the outcome.
        targets: [...].
        level: probability of the interval, between 0 and 1.

    Returns:
        [], between 0 and 1.

    Raises:
        ValueError: `level` is not between 0 and 1.

    Example:
        >>> float(interval_coverage([[0.0, 0.0], [1.0, 1.0]], [0.5, 3.0]))
        0.5
    """
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1, got {level}")
    ends = [50.0 * (1.0 - level), 50.0 * (1.0 + level)]
    low, high = tf.unstack(
        tfp.stats.percentile(draws, ends, axis=0, interpolation="linear")
    )
    inside = tf.logical_and(low <= targets, targets <= high)
    return tf.reduce_mean(tf.cast(inside, low.dtype))
