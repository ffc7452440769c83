"""Dropout whose masks are draws: held over a rollout, a sequence or an episode."""

import tensorflow as tf
from tensorflow_probability import distributions as tfd

from agents.planet.model import networks
from agents.planet.model.transitions.source import Source
from bayes_rl.initializers.trainable import TrainableInitializer
from bayes_rl.layers import products
from bayes_rl.layers.base import StochasticLayer
from bayes_rl.weights import named_weights, sample_weights


class Dropout(Source):
    """Each hidden unit of the transition is there in a draw, or not.

        outputs = activation(inputs @ kernel + bias) * mask
        mask = 1 / (1 - rate) with probability 1 - rate, else 0; for each unit

    Sequences are trained under masks of their own, which they keep over time. Central is
    the mean, a mask of ones. Up to what no weight changes, the KL to a prior
    Normal(0, prior_scale) of the columns of kernel and bias is

        sum of squares / (2 (1 - rate) prior_scale^2)

    Source: Gal and Ghahramani, 2016, Dropout as a Bayesian Approximation, appendix,
    section 4.2; Gal et al., 2016, Improving PILCO with Bayesian Neural Network Dynamics
    Models, section 3 (masks held over a rollout).

    Args: as in `Source`.
    """

    def dense(self, units, activation, name):
        if activation is None:  # nothing of a prediction is dropped
            return networks.Dense(units, dtype=self.dtype, name=name)
        rate = self.settings.dropout_rate
        return _DenseDropout(rate, units, activation, dtype=self.dtype, name=name)

    def draw_for_training(self, model, sequences, seed):
        return sample_weights(model, [sequences], seed), sequences

    def costs(self, model):
        keep = 1.0 - self.settings.dropout_rate
        variance = self.settings.prior_scale**2
        return {
            name: (tf.nn.l2_loss(layer.kernel) + tf.nn.l2_loss(layer.bias))
            / (keep * variance)
            for name, (layer, _) in named_weights(model).items()
        }


class _DenseDropout(StochasticLayer, networks.Dense):
    """A dense layer with a stochastic weight `mask` [units]."""

    def __init__(self, rate, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._rate = rate

    def build(self, input_shape):
        super().build(input_shape)
        self.add_weight("mask", [self.units], initializer=_Mask(self._rate))

    def call(self, inputs):
        outputs, mask = super().call(inputs), self.draw("mask")
        if mask.shape.rank == outputs.shape.rank:  # inputs [N, ...] are whole for each draw
            outputs = outputs[tf.newaxis]
        return outputs * products.align(mask, outputs)


class _Mask(TrainableInitializer):
    """A posterior without parameters."""

    def __init__(self, rate, seed=None, **kwargs):
        super().__init__(seed, **kwargs)
        self.rate = rate

    def _distribution(self):
        here_or_not = tf.constant([0.0, 1.0 / (1.0 - self.rate)])
        points = tf.broadcast_to(here_or_not, [*self.weight_shape, 2])
        choice = tfd.Categorical(probs=[self.rate, 1.0 - self.rate])
        return tfd.MixtureSameFamily(choice, tfd.Deterministic(points))

    def get_config(self):
        return {**super().get_config(), "rate": self.rate}
