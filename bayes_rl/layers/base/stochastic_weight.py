"""StochasticWeight: a weight with a posterior, as its layer keeps it."""

import dataclasses

import tensorflow as tf
from tensorflow_probability import distributions as tfd

from bayes_rl.layers.base import softplus_normal
from bayes_rl.random_variables.families import (
    draw_from,
    elementwise,
    mean_of,
    normal_parameters,
)
from bayes_rl.random_variables.random_variable import RandomVariable
from bayes_rl.random_variables.tracing import traceable
from bayes_rl.regularizers.base import ScaleFactor


@traceable
def make_weight(distribution, name, value=None, owner=None):
    """Random variable of a layer's weight, `<layer>/<weight>`, made anew at every use.

    The owner is the initializer, by which tracers tell weights of one name.
    """
    del owner
    return RandomVariable(distribution, name=name, value=value)


@dataclasses.dataclass(frozen=True)
class StochasticWeight:
    """One weight with a posterior."""

    key: str  # within its layer, such as "kernel"
    name: str  # in full, such as "dense/kernel"
    shape: tuple
    initializer: tf.keras.layers.Layer  # that holds the posterior's parameters
    regularizer: object  # from the weight's random variable to its cost, or None
    scale: ScaleFactor  # of the costs of its layer

    def posterior(self):
        """TFP distribution over the whole weight, at the parameters' current values."""
        return self.initializer(self.shape).distribution

    def mean(self):
        """Mean of the posterior, [*shape]."""
        found = softplus_normal.parameters_of(self.initializer)
        return mean_of(self.posterior()) if found is None else found[0]

    def moments(self):
        """Mean and variance of the posterior, both [*shape].

        Raises:
            ValueError: it is neither normal with independent elements nor one point.
        """
        posterior = self.posterior()
        parameters = normal_parameters(posterior)
        if type(elementwise(posterior)) is tfd.Deterministic:
            parameters = elementwise(posterior).loc, tf.zeros([], posterior.dtype)
        if parameters is None:
            raise ValueError(
                f"the posterior of {self.name!r} must be normal with independent elements, "
                f"got {posterior.name}; use a Reparameterization layer"
            )
        mean, stddev = (tf.broadcast_to(x, self.shape) for x in parameters)
        return mean, tf.square(stddev)

    def draw(self, centered=False):
        """A new draw, [*shape], without the mean where it is centered."""
        found = softplus_normal.parameters_of(self.initializer)
        if found is None:
            return draw_from(self.posterior(), centered=centered)
        mean, *rest = found
        return softplus_normal.perturbation(*rest, None if centered else mean)

    def cost(self):
        """Cost of the posterior, [], in the type of its parameters; needs no draw."""
        cost = self._unscaled_cost()
        return cost * self.scale(cost.dtype)

    def _unscaled_cost(self):
        found = softplus_normal.parameters_of(self.initializer)
        prior = found and softplus_normal.prior_of(self.regularizer)
        if not prior:
            return self.regularizer(RandomVariable(self.posterior(), name=self.name))
        mean, *rest = found
        kl = softplus_normal.divergence(*rest, mean, *prior)
        return self.regularizer.scaled(kl)


class WeightAttribute:
    """Class attribute of a layer: the weight of the same name.

    Reading it gives the variable of a deterministic weight and builds a random variable of
    a stochastic one.
    """

    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, layer, owner=None):
        if layer is None:
            return self
        if self.name in layer.stochastic_weights:
            return layer.random_variable(self.name)
        return getattr(layer, f"_{self.name}")

    def __set__(self, layer, value):
        if not isinstance(value, StochasticWeight):
            setattr(layer, f"_{self.name}", value)
