"""The latent state of the world model, as numbers and as a distribution."""

from typing import NamedTuple

import tensorflow as tf
from tensorflow_probability import distributions as tfd


class Latent(NamedTuple):
    """The model's state: what it remembers and what it guesses.

    Attributes:
        belief: [..., belief_size], deterministic h.
        mean: [..., latent_size], of the distribution that `sample` is drawn from.
        stddev: [..., latent_size], above 0.
        sample: [..., latent_size], stochastic s.
    """

    belief: tf.Tensor
    mean: tf.Tensor
    stddev: tf.Tensor
    sample: tf.Tensor

    @property
    def features(self):
        """[..., latent_size + belief_size], the input of every head."""
        return tf.concat([self.sample, self.belief], -1)


def gaussian(latent: Latent):
    """The diagonal normal distribution of a latent's `sample`."""
    return tfd.Independent(tfd.Normal(latent.mean, latent.stddev), 1)


def above_free_nats(kl, free_nats):
    """max(0, KL - free_nats): the model may use so many nats at no cost."""
    return tf.maximum(0.0, kl - free_nats)
