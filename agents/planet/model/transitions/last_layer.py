"""A posterior over the last layer of the transition alone."""

from agents.planet.model import networks
from agents.planet.model.rssm import LAST_LAYER
from agents.planet.model.transitions.posterior import Reparameterization
from agents.planet.model.transitions.source import Source


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

    def dense(self, units, activation, name):
        if name == LAST_LAYER:
            return Reparameterization(self.settings, self.dtype).dense(
                units, activation, name
            )
        return networks.Dense(units, activation, dtype=self.dtype, name=name)
