"""What every layer with a posterior over its weights shares.

* arguments.py: Arguments of layers' constructors: what goes to Keras, and what a layer
  keeps itself
* stochastic_layer.py: The mixin, left of a Keras layer
* stochastic_weight.py: A weight with a posterior, as its layer keeps it
"""

from bayes_rl.layers.base.arguments import arguments
from bayes_rl.layers.base.stochastic_layer import StochasticLayer
from bayes_rl.layers.base.stochastic_weight import (
    StochasticWeight,
    WeightAttribute,
    make_weight,
)

__all__ = [
    "StochasticLayer",
    "StochasticWeight",
    "WeightAttribute",
    "arguments",
    "make_weight",
]
