"""A kernel times the outer product of two vectors with a posterior."""

import functools
import math

from agents.planet.model.transitions.source import Source
from bayes_rl.initializers import ScaledNormalStdDev, TrainableNormal
from bayes_rl.layers import DenseRank1
from bayes_rl.regularizers import NormalKLDivergence
from bayes_rl.weights import sample_weights


class Rank1(Source):
    """Vectors of inputs and units, near 1, perturb one kernel; sequences have their own.

        outputs = activation(((inputs * alpha) @ kernel) * gamma + bias)
        alpha, gamma ~ Normal(mean, stddev), at first mean = 1 and
        stddev = posterior_scale / sqrt(2); prior Normal(1, prior_scale)

    So at first an element of the kernel has about the share posterior_scale of its size as
    stddev, as with `Reparameterization`, whose kernels are about 1 / sqrt(fan_in) in size.
    A draw is as many numbers as the layer has inputs and units, and the kernel is the same
    for all: no draw takes a product of its own. Central are the posterior means.

    Source: Dusenberry et al., 2020, Efficient and Scalable Bayesian Neural Nets with Rank-1
    Factors, equation 1 and section 3, with a mixture of one component.

    Args: as in `Source`.
    """

    def dense(self, units, activation, name):
        variance = self.settings.posterior_scale**2 / 2
        posterior = functools.partial(
            TrainableNormal,
            mean_initializer="ones",
            stddev_initializer=ScaledNormalStdDev(variance, distribution="constant"),
        )
        prior = functools.partial(NormalKLDivergence, 1.0, self.settings.prior_scale)
        return DenseRank1(
            units,
            activation,
            alpha_initializer=posterior(),
            gamma_initializer=posterior(),
            alpha_regularizer=prior(),
            gamma_regularizer=prior(),
            min_perturbation_value=-math.inf,
            max_perturbation_value=math.inf,
            dtype=self.dtype,
            name=name,
        )

    def draw_for_training(self, model, sequences, seed):
        return sample_weights(model, [sequences], seed), sequences
