"""Posteriors over a weight, given where Keras expects an initializer.

A trainable initializer is a Keras layer that holds the parameters of the posterior of one
weight. Layers make their own copy of the one they are given, so that one object can be
passed to many layers and each draws its own initial values.

Source: Tran et al., 2019, Bayesian Layers: A Module for Neural Network Uncertainty,
section 2.1.
"""

import tensorflow as tf

from bayes_rl.initializers.normal import (
    TrainableGlorotNormal,
    TrainableHeNormal,
    TrainableNormal,
    TrainableNormalFixedStddev,
    TrainableNormalSharedStddev,
    own,
)
from bayes_rl.initializers.scaled import ScaledNormalStdDev
from bayes_rl.serialization import deserialize, make_get, serialize

__all__ = [
    "ScaledNormalStdDev",
    "TrainableGlorotNormal",
    "TrainableHeNormal",
    "TrainableNormal",
    "TrainableNormalFixedStddev",
    "TrainableNormalSharedStddev",
    "deserialize",
    "get",
    "own",
    "serialize",
]

get = make_get(
    {
        "scaled_normal_std_dev": ScaledNormalStdDev,
        "trainable_glorot_normal": TrainableGlorotNormal,
        "trainable_he_normal": TrainableHeNormal,
        "trainable_normal": TrainableNormal,
        "trainable_normal_fixed_stddev": TrainableNormalFixedStddev,
        "trainable_normal_shared_stddev": TrainableNormalSharedStddev,
    },
    tf.keras.initializers,
)
