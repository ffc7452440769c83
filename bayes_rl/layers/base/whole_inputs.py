"""Inputs that go whole to each of S draws."""

import tensorflow as tf
from tensorflow_probability import distributions as tfd

from bayes_rl.layers import products
from bayes_rl.random_variables.random_variable import RandomVariable


def with_draws(inputs, draws):
    """Inputs with an axis of draws, [S], in front; a random variable stays one."""
    if not isinstance(inputs, RandomVariable):
        return _broadcast(tf.convert_to_tensor(inputs), draws)
    ones = [1] * inputs.distribution.batch_shape.rank
    distribution = tfd.BatchBroadcast(
        inputs.distribution, with_shape=[*draws, *inputs.sample_shape, *ones]
    )
    return RandomVariable(distribution, draw=lambda: _broadcast(inputs.value, draws))


def _broadcast(tensor, draws):
    return tf.broadcast_to(tensor, [*draws, *products.sizes(tensor)])
