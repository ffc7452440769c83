"""Latent dynamics: the recurrent state-space model.

    action a[t-1], sample s[t-1]          embedding e[t]
                 |                             |
    belief h[t-1] --> GRU --> h[t] --------> posterior q(s[t] | h[t], e[t])
                               |
                               +-----------> prior p(s[t] | h[t])

Source: Hafner et al., 2019, Learning Latent Dynamics for Planning from Pixels, section 3;
sizes and wiring of its last release.
"""

import functools
from typing import NamedTuple

import tensorflow as tf
from tensorflow_probability import distributions as tfd

from agents.planet.model.gru import GRUCell
from bayes_rl.layers.products import sizes

LAST_LAYER = "transition_latent"  # of the transition


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


class RSSM(tf.Module):
    """Recurrent state-space model whose transition may have uncertain weights.

        x = relu(Dense([s[t-1], a[t-1]]))
        h[t] = GRU(x, h[t-1])
        prior:     mean, stddev from relu(Dense(h[t]))
        posterior: mean, stddev from relu(Dense([h[t], e[t]]))
        stddev = softplus(.) + min_stddev
        s[t] = mean + stddev * noise

    The layers of x and of the prior are the transition's dense layers, made by
    `transition_dense`; Tran et al., 2019, Bayesian Layers, section 3.2, make them Bayesian.
    Mean and stddev leave one dense layer of twice the size, which computes what two do.

    Args:
        settings: has `belief_size`, `latent_size`, `hidden_size` and `min_stddev`, as
            `agents.runs.config.schema.WorldModel`.
        transition_dense: called with units, activation and name, makes a dense layer of
            the transition.
        dtype: Keras dtype policy of the deterministic layers.
    """

    def __init__(self, settings, transition_dense, dtype="float32"):
        super().__init__("rssm")
        self.belief_size = settings.belief_size
        self.latent_size = settings.latent_size
        self.min_stddev = settings.min_stddev
        self._hidden_size = hidden = settings.hidden_size
        parameters = 2 * self.latent_size  # mean and stddev
        self._input = transition_dense(hidden, "relu", "transition_input")
        self._gru = GRUCell(self.belief_size, dtype=dtype, name="transition_gru")
        self._prior_hidden = transition_dense(hidden, "relu", "transition_hidden")
        self._prior_latent = transition_dense(parameters, None, LAST_LAYER)
        dense = functools.partial(tf.keras.layers.Dense, dtype=dtype)
        self._posterior_hidden = dense(hidden, "relu", name="posterior_hidden")
        self._posterior_latent = dense(parameters, name="posterior_latent")

    def build(self, embedding_size, action_size):
        """Creates the variables; comes before any other call."""
        features = self.belief_size + embedding_size
        for layer, input_size in (  # initial values of a seed depend on the order
            (self._input, self.latent_size + action_size),
            (self._gru, self._hidden_size),
            (self._posterior_hidden, features),
            (self._posterior_latent, self._hidden_size),
            (self._prior_hidden, self.belief_size),
            (self._prior_latent, self._hidden_size),
        ):
            with tf.name_scope(layer.name):
                layer.build([None, input_size])

    def initial(self, batch_size) -> Latent:
        """The latent before an episode's first observation: zeros, [batch_size, ...]."""
        belief = tf.zeros([batch_size, self.belief_size])
        latent = tf.zeros([batch_size, self.latent_size])
        return Latent(belief, latent, latent, latent)

    def observe(self, embedding, action, is_first, noise, draws=0):
        """Filters sequences from the start: one posterior and one prior for each step.

        Args:
            embedding: [B, T, E], of the observations.
            action: [B, T, A], that led to each observation.
            is_first: [B, T] bool; there the latent starts anew.
            noise: [B, T, latent_size], standard normal.
            draws: P, how many draws are held, if sequence b keeps to draw b mod P; 0: the
                weights that are held have no axis of draws.

        Returns:
            Posterior and prior `Latent`, [B, T, ...]. The prior's `sample` is its mean.
        """
        inputs = (self._seen(embedding), action, is_first, noise)
        inputs, initial = by_draw((inputs, self.initial(sizes(embedding)[0])), draws)
        time = 2 if draws else 1
        inputs = tf.nest.map_structure(lambda x: to_front(x, time), inputs)
        step = self._make_filter()
        posterior = tf.scan(lambda latent, now: step(latent, *now), inputs, initial)
        posterior = tf.nest.map_structure(lambda x: from_front(x, time), posterior)
        return in_order((posterior, self._prior(posterior.belief)), draws)

    def filter(self, latent: Latent, embedding, action, is_first, noise) -> Latent:
        """The posterior one step on; all arguments [B, ...], see `observe`."""
        step = self._make_filter()
        return step(latent, self._seen(embedding), action, is_first, noise)

    def imagine_step(self, latent: Latent, action, noise) -> Latent:
        """The prior one step on: latent and noise [..., N, :], action [..., N, A]."""
        return self._make_imagine_step()(latent, action, noise)

    def imagine(self, latent: Latent, actions, noise) -> Latent:
        """Rolls the prior forward without observations: [H, ..., N, :] after each action.

        Latents [..., N, :] are where the rollouts start. Of actions [H, ..., N, A] and
        standard normal noise [H, ..., N, latent_size] time comes first.
        """
        step = self._make_imagine_step()
        return tf.scan(lambda now, inputs: step(now, *inputs), (actions, noise), latent)

    def prior_inputs(self, belief):
        """What the transition's last layer gets: [..., belief_size] -> [..., units]."""
        return self._prior_hidden(belief)

    def prior_of(self, belief, inputs) -> Latent:
        """The prior that the last layer gives of `prior_inputs`; its sample is its mean."""
        mean, stddev = self._mean_and_stddev(self._prior_latent(inputs))
        return Latent(belief, mean, stddev, mean)

    # What is made before a loop and not in each of its steps costs once, and so do the
    # gradients of the parts of a kernel.

    def _make_filter(self):
        next_belief = self._make_next_belief()
        kernel = self._posterior_hidden.kernel[: self.belief_size]

        def step(latent, seen, action, is_first, noise):
            keep = tf.cast(~is_first, tf.float32)[..., tf.newaxis]
            latent = tf.nest.map_structure(lambda state: keep * state, latent)
            belief = next_belief(latent, keep * action)
            hidden = tf.nn.relu(seen + self._product(belief, kernel))
            mean, stddev = self._mean_and_stddev(self._posterior_latent(hidden))
            return Latent(belief, mean, stddev, mean + stddev * noise)

        return step

    def _seen(self, embedding):
        """What the hidden layer of the posterior gets from the embedding, [..., units]."""
        layer = self._posterior_hidden
        return self._product(embedding, layer.kernel[self.belief_size :]) + layer.bias

    def _product(self, inputs, kernel):
        """One matrix product over the last axis, in the type of the layers; float32."""
        dtype = self._posterior_hidden.compute_dtype
        product = tf.tensordot(tf.cast(inputs, dtype), tf.cast(kernel, dtype), 1)
        return tf.cast(product, tf.float32)

    def _make_imagine_step(self):
        next_belief = self._make_next_belief()

        def step(latent, action, noise):
            prior = self._prior(next_belief(latent, action))
            return prior._replace(sample=prior.mean + prior.stddev * noise)

        return step

    def _make_next_belief(self):
        gru_step = self._gru.make_step()

        def next_belief(latent, action):
            inputs = self._input(tf.concat([latent.sample, action], -1))
            flat = tf.reshape(inputs, [-1, inputs.shape[-1]])
            before = tf.reshape(latent.belief, [-1, self.belief_size])
            return tf.reshape(gru_step(flat, before), tf.shape(latent.belief))

        return next_belief

    def _prior(self, belief):
        return self.prior_of(belief, self.prior_inputs(belief))

    def _mean_and_stddev(self, outputs):
        mean, stddev = tf.split(tf.cast(outputs, tf.float32), 2, axis=-1)
        return mean, tf.nn.softplus(stddev) + self.min_stddev


def by_draw(nest, draws):
    """[B, ...] -> [P, B / P, ...], in part p the rows p, p + P, p + 2 P and so on.

    Of 0 draws nothing is changed.

    Example:
        >>> by_draw(tf.range(6), 2).numpy().tolist()
        [[0, 2, 4], [1, 3, 5]]
    """
    if not draws:
        return nest

    def split(tensor):
        rows, *rest = sizes(tensor)
        return to_front(tf.reshape(tensor, [rows // draws, draws, *rest]), 1)

    return tf.nest.map_structure(split, nest)


def in_order(nest, draws):
    """The inverse of `by_draw`: [P, B / P, ...] -> [B, ...]."""
    if not draws:
        return nest

    def join(tensor):
        _, rows, *rest = sizes(tensor)
        return tf.reshape(from_front(tensor, 1), [draws * rows, *rest])

    return tf.nest.map_structure(join, nest)


def to_front(tensor, axis):
    """Puts an axis first."""
    return tf.transpose(tensor, [axis, *(x for x in range(tensor.shape.rank) if x != axis)])


def from_front(tensor, axis):
    """The inverse of `to_front`."""
    axes = [*range(1, axis + 1), 0, *range(axis + 1, tensor.shape.rank)]
    return tf.transpose(tensor, axes)
