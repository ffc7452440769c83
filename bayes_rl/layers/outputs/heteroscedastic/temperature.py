"""Temperatures between bounds, as numbers that an optimizer may move anywhere."""

import math

import tensorflow as tf


def compute_temperature(pre_sigmoid_temperature, lower=None, upper=None):
    """Temperature [] between bounds, from an unconstrained number.

        temperature = lower + (upper - lower) sigmoid(x)
        temperature = lower + softplus(x)    without upper

    Without lower that is 0.
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
