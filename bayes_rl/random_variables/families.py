"""How a weight is drawn from each family of posteriors, and which value stands for it.

Draws with a seed are made of integers, so that they are the same on every device, in eager
mode and under XLA. Families that are not listed are drawn by TFP, whose seeded draws
differ between XLA and TensorFlow's own kernels.
"""

import math

import tensorflow as tf
from tensorflow_probability import distributions as tfd

from bayes_rl.numerics.noise import stateless_centered, stateless_normal


def elementwise(distribution):
    """The distribution of each element, where elements are independent."""
    while type(distribution) is tfd.Independent:
        distribution = distribution.distribution
    return distribution


def normal_parameters(distribution):
    """(mean, stddev) of a fully factorized normal distribution; None for other kinds."""
    base = elementwise(distribution)
    return (base.loc, base.scale) if type(base) is tfd.Normal else None


def mean_of(distribution):
    """Mean of a distribution; its median where it has no mean, as a Cauchy."""
    base = elementwise(distribution)
    if _family(base) not in _MEANS:
        return distribution.mean()
    mean = tf.convert_to_tensor(_MEANS[_family(base)](base))
    shape = distribution.batch_shape + distribution.event_shape
    return mean if mean.shape == shape else tf.broadcast_to(mean, shape)


def _family(base):
    """Its class; of mixtures, those of points alone are one of ours."""
    components = getattr(base, "components_distribution", None)
    is_ours = components is None or type(components) is tfd.Deterministic
    return type(base) if is_ours else None


def _mean_of_mixture(mixture):
    probs = tf.cast(mixture.mixture_distribution.probs_parameter(), mixture.dtype)
    return tf.reduce_sum(probs * mixture.components_distribution.loc, -1)


_MEANS = {
    tfd.Normal: lambda d: d.loc,
    tfd.LogNormal: lambda d: tf.exp(d.loc + tf.square(d.scale) / 2),
    tfd.Cauchy: lambda d: d.loc,
    tfd.HalfCauchy: lambda d: d.loc + d.scale,
    tfd.Deterministic: lambda d: d.loc,
    tfd.MixtureSameFamily: _mean_of_mixture,
}


def draw_from(distribution, sample_shape=(), seed=None, centered=False):
    """Reparameterized draw [*sample_shape, *batch_shape, *event_shape].

    Without a seed it is from TensorFlow's global generator; centered, `mean_of` the
    distribution is left out.
    """
    base = elementwise(distribution)
    shape = distribution.batch_shape + distribution.event_shape
    shape = list(sample_shape) + shape.as_list()
    if type(base) is tfd.Normal:
        change = base.scale * _normal(shape, seed, base.dtype)
        return change if centered else base.loc + change
    if _family(base) in _DRAWS:
        draw = _DRAWS[type(base)](base, shape, seed)
    else:
        draw = distribution.sample(sample_shape, seed=seed)
    return draw - mean_of(distribution) if centered else draw


def _normal(shape, seed, dtype):
    if seed is None:
        return tf.random.normal(shape, dtype=dtype)
    return stateless_normal(shape, seed, dtype)


def _centered_uniform(shape, seed, dtype):
    if seed is None:
        return tf.random.uniform(shape, -0.5, 0.5, dtype)
    return stateless_centered(shape, seed, dtype)


def _draw_cauchy(base, shape, seed):
    angle = math.pi * _centered_uniform(shape, seed, base.dtype)
    return base.loc + base.scale * tf.tan(angle)


def _draw_half_cauchy(base, shape, seed):
    angle = math.pi / 2 * (_centered_uniform(shape, seed, base.dtype) + 0.5)
    return base.loc + base.scale * tf.tan(angle)


def _draw_component(mixture, shape, seed):
    """Picks a component by the inverse of the distribution function of its index."""
    probs = tf.cast(mixture.mixture_distribution.probs_parameter(), mixture.dtype)
    below = tf.cumsum(probs, axis=-1)[..., :-1]
    uniform = _centered_uniform(shape, seed, mixture.dtype)[..., tf.newaxis] + 0.5
    index = tf.reduce_sum(tf.cast(uniform > below, tf.int32), -1)
    loc = mixture.components_distribution.loc
    return tf.reduce_sum(tf.one_hot(index, loc.shape[-1], dtype=loc.dtype) * loc, -1)


_DRAWS = {
    tfd.LogNormal: lambda d, *how: tf.exp(d.loc + d.scale * _normal(*how, d.dtype)),
    tfd.Cauchy: _draw_cauchy,
    tfd.HalfCauchy: _draw_half_cauchy,
    tfd.Deterministic: lambda d, shape, _: tf.broadcast_to(d.loc, shape),
    tfd.MixtureSameFamily: _draw_component,
}
