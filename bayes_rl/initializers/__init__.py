"""Posteriors over a weight, given where Keras expects an initializer.

A trainable initializer is a Keras layer that holds the parameters of the posterior of one
weight. Layers make their own copy of the one they are given, so that one object can be
passed to many layers and each draws its own initial values.

Source: Tran et al., 2019, Bayesian Layers, section 2.1.
"""

import tensorflow as tf

from bayes_rl.initializers.location_scale import (
    TrainableCauchy,
    TrainableDeterministic,
    TrainableHalfCauchy,
    TrainableLogNormal,
    TrainableMixtureOfDeltas,
)
from bayes_rl.initializers.normal import (
    TrainableGlorotNormal,
    TrainableHeNormal,
    TrainableMultivariateNormal,
    TrainableNormal,
    TrainableNormalFixedStddev,
    TrainableNormalSharedStddev,
)
from bayes_rl.initializers.start_values import (
    OrthogonalRandomFeatures,
    RandomSign,
    ScaledNormalStdDev,
    get_condconv_initializer,
)
from bayes_rl.initializers.trainable import TrainableInitializer, own
from bayes_rl.serialization import deserialize, make_get, serialize

_aliases = {
    "orthogonal_random_features": OrthogonalRandomFeatures,
    "random_sign": RandomSign,
    "scaled_normal_std_dev": ScaledNormalStdDev,
    "trainable_cauchy": TrainableCauchy,
    "trainable_deterministic": TrainableDeterministic,
    "trainable_glorot_normal": TrainableGlorotNormal,
    "trainable_half_cauchy": TrainableHalfCauchy,
    "trainable_he_normal": TrainableHeNormal,
    "trainable_log_normal": TrainableLogNormal,
    "trainable_mixture_of_deltas": TrainableMixtureOfDeltas,
    "trainable_multivariate_normal": TrainableMultivariateNormal,
    "trainable_normal": TrainableNormal,
    "trainable_normal_fixed_stddev": TrainableNormalFixedStddev,
    "trainable_normal_shared_stddev": TrainableNormalSharedStddev,
}
globals().update(_aliases)

get = make_get(_aliases, tf.keras.initializers)
