"""What every layer with a posterior over its weights shares.

* arguments.py: Constructors of layers: Keras' arguments, with other defaults and more of
  them
* scaled_kl.py: What `ed.scale_kl` finds on a layer made of layers
* stochastic_layer.py: The mixin, left of a Keras layer
* stochastic_weight.py: A weight with a posterior, as its layer keeps it
"""

from bayes_rl.layers.base.arguments import REQUIRED, takes
from bayes_rl.layers.base.scaled_kl import ScaledKL
from bayes_rl.layers.base.stochastic_layer import StochasticLayer
from bayes_rl.layers.base.stochastic_weight import (
    StochasticWeight,
    WeightAttribute,
    make_weight,
)

__all__ = [
    "REQUIRED",
    "ScaledKL",
    "StochasticLayer",
    "StochasticWeight",
    "WeightAttribute",
    "make_weight",
    "takes",
]
