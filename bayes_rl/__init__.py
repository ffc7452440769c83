"""Bayesian Layers for Keras."""

import sys

from bayes_rl.compatibility import versions  # it chooses Keras before others use it

# isort: split
from bayes_rl import (
    constraints,
    distributions,
    inference,
    initializers,
    layers,
    losses,
    models,
    optimizers,
    regularizers,
    uncertainty,
)
from bayes_rl.compatibility.edward2_modules import add_modules
from bayes_rl.conversion import to_bayesian
from bayes_rl.distributions import *  # noqa: F403
from bayes_rl.moped import start_at_means
from bayes_rl.programs import make_log_joint_fn
from bayes_rl.random_variables.random_variable import RandomVariable, RandomVariableSpec
from bayes_rl.random_variables.tracing import (
    condition,
    get_next_tracer,
    tape,
    trace,
    traceable,
)
from bayes_rl.random_variables.transformed import TransformedRandomVariable
from bayes_rl.uncertainty import posterior_summary
from bayes_rl.version import VERSION, __version__
from bayes_rl.weights import (
    AnnealKL,
    OneDraw,
    hold,
    kl_divergences,
    mean_weights,
    posteriors,
    predict,
    sample_weights,
    scale_kl,
)

add_modules(sys.modules[__name__])

__all__ = [
    "AnnealKL",
    "OneDraw",
    "RandomVariable",
    "RandomVariableSpec",
    "TransformedRandomVariable",
    "VERSION",
    "__version__",
    "condition",
    "constraints",
    "get_next_tracer",
    "hold",
    "inference",
    "initializers",
    "kl_divergences",
    "layers",
    "losses",
    "make_log_joint_fn",
    "mean_weights",
    "models",
    "optimizers",
    "posterior_summary",
    "posteriors",
    "predict",
    "regularizers",
    "sample_weights",
    "scale_kl",
    "start_at_means",
    "tape",
    "to_bayesian",
    "trace",
    "traceable",
    "uncertainty",
    *distributions.__all__,
]
