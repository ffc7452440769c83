"""Class probabilities when logits are normal: mean field and Monte Carlo."""

import tensorflow as tf

from bayes_rl import checks
from bayes_rl.numerics.noise import as_seed

LIKELIHOODS = ("logistic", "binary_logistic", "poisson")


def mean_field_logits(logits, covmat=None, mean_field_factor=1.0, likelihood="logistic"):
    """Logits whose softmax, sigmoid or exponential approximates the predictive mean.

        logistic, binary_logistic: logits / sqrt(1 + mean_field_factor variance)
        poisson:                   logits + mean_field_factor variance / 2

    The Poisson form is exact at factor 1, as E[exp(x)] = exp(mean + variance / 2); a factor
    of pi / 8 is the probit approximation of the logistic one.

    Source: Lu et al., 2020, Mean-Field Approximation to Gaussian-Softmax Integral with
    Application to Uncertainty Estimation, section 3; MacKay, 1992, The Evidence Framework
    Applied to Classification Networks, equation 10.

    Args:
        logits: [batch, classes] or [batch], means.
        covmat: [batch, batch], covariance of the logits of one class; None for variance 1.
        mean_field_factor: of the variance; below 0 to leave the logits as they are.
        likelihood: 'logistic', 'binary_logistic' or 'poisson'.

    Returns:
        As logits.

    Raises:
        ValueError: the likelihood is unknown.

    Example:
        >>> mean_field_logits(tf.ones([1, 1]), tf.constant([[3.0]])).numpy()
        array([[0.5]], dtype=float32)
    """
    checks.one_of(LIKELIHOODS, likelihood=likelihood)
    logits = tf.convert_to_tensor(logits)
    if mean_field_factor < 0:
        return logits
    variance = tf.ones([], logits.dtype)
    if covmat is not None:
        variance = tf.cast(tf.linalg.diag_part(covmat), logits.dtype)
        if logits.shape.rank > 1:
            variance = variance[:, tf.newaxis]
    if likelihood == "poisson":
        return logits + 0.5 * mean_field_factor * variance
    return logits / tf.sqrt(1.0 + mean_field_factor * variance)


def monte_carlo_softmax(logits, var, num_samples=50, temp_scale=1.0, seed=None):
    """Mean softmax of normal logits, by sampling.

        mean over draws of softmax(draw / temp_scale),  draw ~ Normal(logits, var)

    Args:
        logits: [batch, classes], means.
        var: variances, [batch], [batch, 1] or [batch, classes], not negative.
        num_samples: number of draws, at least 1.
        temp_scale: temperature, above 0.
        seed: stateless seed, int tensor [2]; None for TensorFlow's global generator.

    Returns:
        [batch, classes], probabilities.

    Raises:
        ValueError: `num_samples` is below 1.

    Example:
        >>> monte_carlo_softmax(tf.zeros([1, 2]), tf.zeros([1])).numpy()
        array([[0.5, 0.5]], dtype=float32)
    """
    checks.at_least_1(num_samples=num_samples)
    logits = tf.convert_to_tensor(logits)
    var = tf.cast(var, logits.dtype)
    if var.shape.rank == logits.shape.rank - 1:
        var = var[..., tf.newaxis]
    shape = tf.concat([[num_samples], tf.shape(logits)], 0)
    noise = tf.random.stateless_normal(shape, as_seed(seed), dtype=logits.dtype)
    draws = logits + tf.sqrt(var) * noise
    return tf.reduce_mean(tf.nn.softmax(draws / temp_scale), axis=0)
