"""Scores of predictions: proper ones, which the truth has lowest, and calibration."""

import tensorflow as tf
import tensorflow_probability as tfp


def log_score(prediction, targets):
    """Negative log density of the targets under the average of the draws.

        score = -log mean_s p(target | weights_s)

    Source: Gneiting and Raftery, 2007, Strictly Proper Scoring Rules, Prediction, and
    Estimation, section 4.1.

    Args:
        prediction: [S, ...], random variable or distribution whose first axis is draws of
            the weights.
        targets: [...].

    Returns:
        [*batch_shape] without S, in nats.

    Example:
        >>> import bayes_rl as ed
        >>> score = log_score(ed.Bernoulli(probs=[0.25, 0.75]), 1)
        >>> round(float(score), 3)
        0.693
    """
    targets = tf.convert_to_tensor(targets, dtype_hint=prediction.dtype)
    log_probs = prediction.log_prob(targets[tf.newaxis])
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
        targets: [...].

    Returns:
        [...], in units of the outcome.

    Example:
        >>> float(continuous_ranked_probability_score([0.0, 2.0], 1.0))
        0.0
    """
    draws = tf.sort(_as_floating(draws), axis=0)
    error = tf.reduce_mean(tf.abs(draws - tf.cast(targets, draws.dtype)), axis=0)
    count = tf.cast(tf.shape(draws)[0], draws.dtype)
    # Of the sorted draws, number i is the greater in i pairs and the less in the rest.
    rank = tf.range(tf.shape(draws)[0])
    weight = 2.0 * tf.cast(rank, draws.dtype) - count + 1.0
    spread = tf.tensordot(weight, draws, 1) / tf.maximum(count * (count - 1.0), 1.0)
    return error - spread


def expected_calibration_error(labels, probabilities, num_bins=10):
    """Mean gap between confidence and accuracy, over bins of equal width of confidence.

        error = sum over bins of share * |accuracy - mean confidence|

    Source: Guo et al., 2017, On Calibration of Modern Neural Networks, equation 3.

    Args:
        labels: [N] or [N, 1], int.
        probabilities: [N, classes], such as `mean_probabilities` of the draws.
        num_bins: number of bins of [0, 1], at least 1.

    Returns:
        [], between 0 and 1.

    Raises:
        ValueError: the labels have another shape, or `num_bins` is below 1.

    Example:
        >>> float(expected_calibration_error([0, 1], [[1.0, 0.0], [1.0, 0.0]]))
        0.5
    """
    if num_bins < 1:
        raise ValueError(f"num_bins must be at least 1, got {num_bins}")
    labels, probabilities = _labelled(labels, probabilities)
    confidence = tf.reduce_max(probabilities, axis=-1)
    classes = tf.argmax(probabilities, axis=-1, output_type=labels.dtype)
    is_right = tf.cast(classes == labels, confidence.dtype)
    # Probabilities that were rounded to beyond 1 are in the last bin.
    bins = tf.cast(tf.math.ceil(confidence * num_bins), tf.int32) - 1
    bins = tf.clip_by_value(bins, 0, num_bins - 1)
    # share * |accuracy - confidence| of a bin is the size of its sum of differences.
    sums = tf.math.unsorted_segment_sum(is_right - confidence, bins, num_bins)
    return tf.reduce_sum(tf.abs(sums)) / tf.cast(tf.size(labels), sums.dtype)


def _labelled(labels, probabilities):
    """Labels [...] for probabilities [..., classes]; a last axis of 1 is dropped."""
    labels, probabilities = tf.cast(labels, tf.int32), tf.convert_to_tensor(probabilities)
    expected = probabilities.shape[:-1]
    if labels.shape.is_compatible_with(expected + [1]):
        labels = labels[..., 0]
    if not labels.shape.is_compatible_with(expected):
        raise ValueError(
            f"labels of probabilities {probabilities.shape} must have shape {expected}, "
            f"got {labels.shape}"
        )
    return labels, probabilities


def brier_score(labels, probabilities):
    """Squared distance of the probabilities from the outcome.

        score = sum over classes of (probability - [class is label])^2

    Source: Brier, 1950, Verification of Forecasts Expressed in Terms of Probability.

    Args:
        labels: [...] or [..., 1], int.
        probabilities: [..., classes].

    Returns:
        [...], between 0 and 2; 0 is perfect.

    Raises:
        ValueError: the labels have another shape.

    Example:
        >>> brier_score([0, 1], [[1.0, 0.0], [0.5, 0.5]]).numpy()
        array([0. , 0.5], dtype=float32)
    """
    labels, probabilities = _labelled(labels, probabilities)
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
        targets: [...].
        level: probability of the interval, between 0 and 1.

    Returns:
        [], between 0 and 1.

    Raises:
        ValueError: `level` is not between 0 and 1.

    Example:
        >>> float(interval_coverage([[0.0, 0.0], [1.0, 1.0]], [0.5, 3.0], level=1 / 3))
        0.5
    """
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1, got {level}")
    draws = _as_floating(draws)
    targets = tf.cast(targets, draws.dtype)
    counts = tf.reduce_sum(tf.cast([draws <= targets, draws < targets], draws.dtype), 1)
    position = tf.cast(tf.shape(draws)[0] + 1, draws.dtype) * (1.0 - level) / 2.0
    # The low end is passed by as many draws; the high end is its mirror image.
    low = _share_reached(counts[0], position)
    above = tf.cast(tf.shape(draws)[0], draws.dtype) - counts[1]
    return tf.reduce_mean(low + _share_reached(above, position) - 1.0)


def _as_floating(draws):
    draws = tf.convert_to_tensor(draws)
    return draws if draws.dtype.is_floating else tf.cast(draws, tf.float32)


def _share_reached(count, position):
    """How far a count has come from the whole number below a position to that above it."""
    below = tf.floor(position)
    reached = tf.cast([count >= below, count >= below + 1.0], count.dtype)
    return reached[0] + (position - below) * (reached[1] - reached[0])
