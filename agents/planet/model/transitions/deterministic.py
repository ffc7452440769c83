"""No uncertainty: one value for each weight."""

from agents.planet.model import networks
from agents.planet.model.transitions.source import Source


class Deterministic(Source):
    """The transition of PlaNet. Nothing is drawn, and strategies that need draws refuse it.

    Source: Hafner et al., 2019, Learning Latent Dynamics for Planning from Pixels.

    Args: as in `Source`.
    """

    def dense(self, units, activation, name):
        return networks.Dense(units, activation, dtype=self.dtype, name=name)
