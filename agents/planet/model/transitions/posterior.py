"""A normal posterior over the transition's kernels, all of them or the last alone."""

import tensorflow as tf
from tensorflow_probability import distributions as tfd

from agents.planet.model import networks
from agents.planet.model.rssm import LAST_LAYER
from agents.planet.model.transitions.source import Source
from bayes_rl.initializers import ScaledNormalStdDev, TrainableNormal
from bayes_rl.initializers.trainable import TrainableInitializer
from bayes_rl.layers import DenseFlipout, DenseReparameterization
from bayes_rl.regularizers import NormalKLDivergence
from bayes_rl.weights import named_weights


class Reparameterization(Source):
    """Kernels with a posterior; a batch is trained under one draw.

        kernel ~ Normal(mean, stddev), at first mean ~ Glorot and
        stddev = posterior_scale / sqrt(fan_in); prior Normal(0, prior_scale)

    Biases are deterministic. The posterior means are the central weights.

    Source: Tran et al., 2019, Bayesian Layers, section 3.2; Blundell et al., 2015, Weight
    Uncertainty in Neural Networks, section 3.2.

    Args: as in `Source`.
    """

    layer = DenseReparameterization

    def dense(self, units, activation, name):
        scale = self.settings.posterior_scale
        stddev = ScaledNormalStdDev(scale**2, distribution="constant")
        return self.layer(
            units,
            activation,
            kernel_initializer=TrainableNormal(
                mean_initializer="glorot_uniform", stddev_initializer=stddev
            ),
            kernel_regularizer=NormalKLDivergence(stddev=self.settings.prior_scale),
            dtype=self.dtype,
            name=name,
        )


class Flipout(Reparameterization):
    """The same posterior; each sequence has a draw of its own, by random signs.

    Source: Wen et al., 2018, Flipout: Efficient Pseudo-Independent Weight Perturbations on
    Mini-Batches, equation 4.

    Args: as in `Source`.
    """

    layer = DenseFlipout


class LastLayer(Source):
    """What leads to mean and stddev of the prior is uncertain, the layers before are not.

    So draws share the belief that an action leads to and differ in what they say of it: a
    Bayesian linear regression on learned features. Posterior and prior of the kernel are
    those of `Reparameterization`.

    Source: Snoek et al., 2015, Scalable Bayesian Optimization Using Deep Neural Networks,
    section 3; Azizzadenesheli et al., 2018, Efficient Exploration through Bayesian Deep
    Q-Networks.

    Args: as in `Source`.
    """

    shares_belief = True

    def dense(self, units, activation, name):
        if name == LAST_LAYER:
            return Reparameterization(self.settings, self.dtype).dense(
                units, activation, name
            )
        return networks.Dense(units, activation, dtype=self.dtype, name=name)


class Ivon(Source):
    """The posterior of `Reparameterization`, learned by IVON in place of Adam.

        kernel ~ Normal(mean, stddev^2),  1 / stddev^2 = n h + 1 / prior_scale^2

    n are the agent steps in the replay over `kl_weight`; h is the curvature of a step's
    loss, which IVON knows from the gradient at the one draw under which a batch is trained,
    see `agents.planet.agent.optimizer.Ivon`. So a weight is certain where the loss is
    curved, and the more so the more is in the replay. The prior is a part of IVON's steps,
    and no KL of the loss. Biases, and all that is not the transition's, learn by Adam;
    stddev is posterior_scale / sqrt(fan_in) until the first gradient step.

    Source: Shen et al., 2024, Variational Learning is Effective for Large Deep Networks,
    algorithm 1; `bayes_rl.optimizers.IVON`.

    Args: as in `Source`.
    """

    def dense(self, units, activation, name):
        return DenseReparameterization(
            units,
            activation,
            kernel_initializer=Centre("glorot_uniform", self.settings.posterior_scale),
            kernel_regularizer=None,
            dtype=self.dtype,
            name=name,
        )

    def curved(self, model):
        return {
            name: weight.initializer for name, (_, weight) in named_weights(model).items()
        }

    def divergences(self, model):
        prior = tfd.Normal(0.0, self.settings.prior_scale)
        return {
            name: tf.reduce_sum(tfd.Normal(each.mean, each.stddev).kl_divergence(prior))
            for name, each in self.curved(model).items()
        }


class Centre(TrainableInitializer):
    """Normal about a trained mean; somebody else knows the stddev."""

    parameter_names = ("mean",)

    def __init__(
        self,
        mean_initializer,
        scale=0.0,
        mean_regularizer=None,
        mean_constraint=None,
        seed=None,
        **kwargs,
    ):
        super().__init__(seed, **kwargs)
        self._scale = scale  # of stddev at first, times sqrt(fan_in)
        self._declare(locals())

    def build(self, shape):
        super().build(shape)
        stddev = tf.keras.initializers.Constant(self._scale / shape[0] ** 0.5)
        with tf.name_scope(self.name):
            self.stddev = self.add_weight(
                "stddev", shape, initializer=stddev, trainable=False
            )

    def _distribution(self):
        return tfd.Normal(self.mean, self.stddev)

    def get_config(self):
        return {**super().get_config(), "scale": self._scale}
