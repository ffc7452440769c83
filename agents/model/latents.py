"""The latent state of the world model, as numbers and as a distribution."""

import functools
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


def balanced_kl(posterior: Latent, prior: Latent, balance):
    """KL(posterior || prior), [...], whose gradient falls to the prior by `balance`.

        2 balance KL(sg(q) || p) + 2 (1 - balance) KL(q || sg(p)), each half of the value

    with sg the stopped gradient; with 0.5 it is that of the KL itself. A prior that learns
    faster follows the posterior, in place of holding it back.

    Source: Hafner et al., 2021, Mastering Atari with Discrete World Models, algorithm 2.
    """
    kl = tfd.kl_divergence(gaussian(posterior), gaussian(prior))
    if balance == 0.5:
        return kl
    stop = functools.partial(tf.nest.map_structure, tf.stop_gradient)
    of_prior = tfd.kl_divergence(gaussian(stop(posterior)), gaussian(prior))
    of_posterior = tfd.kl_divergence(gaussian(posterior), gaussian(stop(prior)))
    both = 2.0 * balance * of_prior + 2.0 * (1.0 - balance) * of_posterior
    return both + tf.stop_gradient(kl - both)


def above_free_nats(kl, free_nats):
    """max(0, KL - free_nats): the model may use so many nats at no cost."""
    return tf.maximum(0.0, kl - free_nats)
