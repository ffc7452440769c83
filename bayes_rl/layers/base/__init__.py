"""What every layer with a posterior over its weights shares."""

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
