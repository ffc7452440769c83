"""Costs of a posterior over weights, in nats.

Source: Tran et al., 2019, Bayesian Layers: A Module for Neural Network Uncertainty,
section 2.1.
"""

import tensorflow as tf

from bayes_rl.regularizers.base import KLDivergence
from bayes_rl.regularizers.divergence import kl_divergence
from bayes_rl.regularizers.empirical_bayes import NormalEmpiricalBayesKLDivergence
from bayes_rl.regularizers.location_scale import (
    CauchyKLDivergence,
    HalfCauchyKLDivergence,
    LogNormalKLDivergence,
)
from bayes_rl.regularizers.log_uniform import LogUniformKLDivergence
from bayes_rl.regularizers.normal import NormalKLDivergence, NormalKLDivergenceWithTiedMean
from bayes_rl.regularizers.prior import (
    PriorKLDivergence,
    TrainableNormalKLDivergenceStdDev,
    own,
)
from bayes_rl.regularizers.uniform import UniformKLDivergence
from bayes_rl.regularizers.updating import set_prior_to_posterior
from bayes_rl.serialization import deserialize, make_get, serialize

_aliases = {
    "cauchy_kl_divergence": CauchyKLDivergence,
    "half_cauchy_kl_divergence": HalfCauchyKLDivergence,
    "log_normal_kl_divergence": LogNormalKLDivergence,
    "log_uniform_kl_divergence": LogUniformKLDivergence,
    "normal_empirical_bayes_kl_divergence": NormalEmpiricalBayesKLDivergence,
    "normal_kl_divergence": NormalKLDivergence,
    "normal_kl_divergence_with_tied_mean": NormalKLDivergenceWithTiedMean,
    "prior_kl_divergence": PriorKLDivergence,
    "trainable_normal_kl_divergence_stddev": TrainableNormalKLDivergenceStdDev,
    "uniform_kl_divergence": UniformKLDivergence,
}
globals().update(_aliases)

__all__ = [
    "KLDivergence",
    "deserialize",
    "get",
    "kl_divergence",
    "own",
    "serialize",
    "set_prior_to_posterior",
    *(found.__name__ for found in _aliases.values()),
]

get = make_get(_aliases, tf.keras.regularizers)
