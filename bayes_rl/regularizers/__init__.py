"""Costs of a posterior over weights, in nats.

Source: Tran et al., 2019, Bayesian Layers, section 2.1.
"""

import tensorflow as tf

from bayes_rl.regularizers.base import KLDivergence
from bayes_rl.regularizers.divergence import kl_divergence
from bayes_rl.regularizers.flat import LogUniformKLDivergence, UniformKLDivergence
from bayes_rl.regularizers.location_scale import (
    CauchyKLDivergence,
    HalfCauchyKLDivergence,
    LogNormalKLDivergence,
)
from bayes_rl.regularizers.normal import (
    NormalEmpiricalBayesKLDivergence,
    NormalKLDivergence,
    NormalKLDivergenceWithTiedMean,
)
from bayes_rl.regularizers.prior import (
    PriorKLDivergence,
    TrainableNormalKLDivergenceStdDev,
    own,
    set_prior_to_posterior,
)
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

get = make_get(_aliases, tf.keras.regularizers)
