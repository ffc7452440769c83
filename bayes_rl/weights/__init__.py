"""Draws of a model's weights: draw them, hold them, take their mean.

A Bayesian layer is a distribution over functions. One draw of all weights is one function,
and S draws are S functions:

    weights = sample_weights(model, sample_shape=[S], seed=seed)  # name -> [S, ...]
    with hold(model, weights):
        outputs = model(inputs)  # [S, N, features] -> [S, N, units]

Source: Tran et al., 2019, Bayesian Layers: A Module for Neural Network Uncertainty.
"""

from bayes_rl.weights.axis_of_draws import check_inputs_are_whole
from bayes_rl.weights.drawing import (
    SignsOfSeed,
    kl_divergences,
    mean_weights,
    posteriors,
    sample_weights,
    sample_with_signs,
)
from bayes_rl.weights.holding import held, hold
from bayes_rl.weights.naming import named_signs, named_weights, seed_labels
from bayes_rl.weights.one_draw import OneDraw
from bayes_rl.weights.prediction import predict
from bayes_rl.weights.scaling import (
    AnnealKL,
    forget_functions,
    scale_kl,
    warn_of_no_kl,
    warn_of_whole_kl,
)
from bayes_rl.weights.templates import renew_regularizers, renew_templates
from bayes_rl.weights.variables import named_variables, trainable_variables
