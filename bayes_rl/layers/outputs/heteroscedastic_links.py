"""From noisy logits to probabilities: temperatures, averages and noise distributions."""

import math

import tensorflow as tf
import tensorflow_probability as tfp
from tensorflow_probability import distributions as tfd


def compute_temperature(pre_sigmoid_temperature, lower=None, upper=None):
    """Temperature between bounds, from an unconstrained number.

        temperature = lower + (upper - lower) sigmoid(x)
        temperature = lower + softplus(x)    without upper

    Args:
        pre_sigmoid_temperature: x, [].
        lower: least temperature, default 0.
        upper: greatest temperature, or None.

    Returns:
        [], above `lower`.

    Example:
        >>> import tensorflow as tf
        >>> float(compute_temperature(tf.constant(0.0), 1.0, 3.0))
        2.0
    """
    lower = 0.0 if lower is None else lower
    if upper is None:
        return lower + tf.nn.softplus(pre_sigmoid_temperature)
    return lower + (upper - lower) * tf.sigmoid(pre_sigmoid_temperature)


def inverse_temperature(temperature, lower=None, upper=None):
    """What `compute_temperature` maps to a temperature, or to the middle of its bounds.

    The middle takes the place of a temperature that is not between them; where there is no
    upper bound, one above the lower.
    """
    lower = 0.0 if lower is None else lower
    if not lower < temperature < (math.inf if upper is None else upper):
        temperature = lower + 1.0 if upper is None else (lower + upper) / 2.0
    if upper is None:
        return math.log(math.expm1(temperature - lower))
    return math.log((temperature - lower) / (upper - temperature))


def log_mean_exp(values, axis):
    """Log of the mean of exp(values) along an axis."""
    return tfp.math.reduce_logmeanexp(values, axis=axis)


def softmax_outputs(log_probs, eps):
    """(logits, log_probs, probs) [..., K]; the logits are the log probabilities."""
    log_probs = tf.maximum(log_probs, math.log(eps))
    return log_probs, log_probs, tf.exp(log_probs)


def sigmoid_outputs(log_probs, log_complements, eps):
    """(logits, log_probs, probs) [..., K] of independent binary outputs."""
    limit = math.log1p(-eps) - math.log(eps)
    logits = tf.clip_by_value(log_probs - log_complements, -limit, limit)
    return logits, tf.math.log_sigmoid(logits), tf.sigmoid(logits)


def noise_class(identifier):
    """Distribution class for a class, or for its name in `tfp.distributions`."""
    if not isinstance(identifier, str):
        return identifier
    if not hasattr(tfd, identifier):
        raise ValueError(f"logit_noise must be in tfp.distributions, got {identifier!r}")
    return getattr(tfd, identifier)
