"""A normal posterior over the transition's kernels, all of them or the last alone."""

from agents.planet.model import networks
from agents.planet.model.rssm import LAST_LAYER
from agents.planet.model.transitions.source import Source
from bayes_rl.initializers import ScaledNormalStdDev, TrainableNormal
from bayes_rl.layers import DenseFlipout, DenseReparameterization
from bayes_rl.regularizers import NormalKLDivergence


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
