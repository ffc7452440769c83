"""Proper scores of predictive distributions: in expectation the truth has the lowest."""

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
    draws = tf.sort(tf.convert_to_tensor(draws), axis=0)
    error = tf.reduce_mean(tf.abs(draws - targets), axis=0)
    count = tf.cast(tf.shape(draws)[0], draws.dtype)
    # Of the sorted draws, number i is the greater in i pairs and the less in the rest.
    rank = tf.range(tf.shape(draws)[0])
    weight = 2.0 * tf.cast(rank, draws.dtype) - count + 1.0
    spread = tf.tensordot(weight, draws, 1) / tf.maximum(count * (count - 1.0), 1.0)
    return error - spread
