"""Shortcuts for normal posteriors: parameters and draws without distribution overhead."""

import tensorflow as tf
from tensorflow_probability import distributions as tfd

from bayes_rl.noise import stateless_normal


def normal_parameters(distribution):
    """Mean and stddev of a fully factorized normal distribution.

    Args:
        distribution: any distribution.

    Returns:
        (mean, stddev), which broadcast to the shape of a draw; None for other kinds.
    """
    if type(distribution) is tfd.Independent:
        distribution = distribution.distribution
    if type(distribution) is not tfd.Normal:
        return None
    return distribution.loc, distribution.scale


def mean_of(distribution):
    """[*batch_shape, *event_shape], the mean of a distribution, or its median without one.

    Example:
        >>> float(mean_of(tfd.HalfCauchy(0.0, 2.0)))
        2.0
    """
    parameters = normal_parameters(distribution)
    shape = distribution.batch_shape + distribution.event_shape
    if parameters is None:
        base = getattr(distribution, "distribution", distribution)
        if isinstance(base, (tfd.Cauchy, tfd.HalfCauchy)):
            return base.quantile(tf.constant(0.5, base.dtype))
        return distribution.mean()
    mean = tf.convert_to_tensor(parameters[0])
    return mean if mean.shape == shape else tf.broadcast_to(mean, shape)


def draw_from(distribution, sample_shape=(), seed=None, centered=False):
    """Reparameterized draw.

        draw = mean + stddev * noise

    Args:
        distribution: any distribution.
        sample_shape: shape of independent draws.
        seed: stateless seed, int tensor [2]; None for TensorFlow's global generator.
        centered: whether to leave the mean out.

    Returns:
        [*sample_shape, *batch_shape, *event_shape].

    Example:
        >>> draw_from(tfd.Normal([0.0, 1.0], 0.5), [3], seed=[1, 2]).shape
        TensorShape([3, 2])
    """
    parameters = normal_parameters(distribution)
    if parameters is None:
        draw = distribution.sample(sample_shape, seed=seed)
        return draw - mean_of(distribution) if centered else draw
    mean, stddev = parameters
    shape = distribution.batch_shape + distribution.event_shape
    noise = _noise(list(sample_shape) + shape.as_list(), seed, stddev.dtype)
    return stddev * noise if centered else mean + stddev * noise


def _noise(shape, seed, dtype):
    if seed is None:
        return tf.random.normal(shape, dtype=dtype)
    return stateless_normal(shape, seed, dtype)
