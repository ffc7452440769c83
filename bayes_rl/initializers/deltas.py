"""Posteriors that are one point or a few points."""

import tensorflow as tf
from tensorflow_probability import distributions as tfd

from bayes_rl.initializers.seeding import fresh
from bayes_rl.initializers.trainable import TrainableInitializer
from bayes_rl.serialization import register


@register
class TrainableDeterministic(TrainableInitializer):
    """A posterior that is one trainable point.

        weight = loc_constraint(loc)

    With a KL divergence as regularizer it costs -log prior(weight), so that training finds
    the mode of the posterior.

    Source: Bishop, 2006, Pattern Recognition and Machine Learning, section 3.3.1.

    Args:
        loc_initializer: of the variable `loc`.
        loc_regularizer: Keras regularizer of the variable `loc`.
        loc_constraint: applied to the variable `loc` when it is used.
        seed: int; with it and the name of the weight, initial values are reproducible.
        **kwargs: of `tf.keras.layers.Layer`.

    Example:
        >>> weight = TrainableDeterministic("ones")([2])
        >>> weight.numpy()
        array([1., 1.], dtype=float32)
    """

    parameter_names = ("loc",)

    def __init__(
        self,
        loc_initializer="glorot_uniform",
        loc_regularizer=None,
        loc_constraint=None,
        seed=None,
        **kwargs,
    ):
        super().__init__(seed=seed, **kwargs)
        self._declare(locals())

    def _distribution(self):
        return tfd.Deterministic(*self.parameters())


@register
class TrainableMixtureOfDeltas(TrainableInitializer):
    """A posterior that is one of K trainable points, independently for each element.

        weight = loc[..., k],  k ~ Uniform{1, ..., K}

    Source: Wilson and Izmailov, 2020, Bayesian Deep Learning and a Probabilistic
    Perspective of Generalization, section 3.1 (deep ensembles as a mixture of points).

    Args:
        num_components: K, at least 1.
        loc_initializer: of each component; default: `he_normal` at the weight's shape.
        loc_regularizer: Keras regularizer of the variable `loc`, [*shape, K].
        loc_constraint: applied to the variable `loc` when it is used.
        seed: int; with it and the name of the weight, initial values are reproducible.
        **kwargs: of `tf.keras.layers.Layer`.

    Raises:
        ValueError: `num_components` is below 1.

    Example:
        >>> initializer = TrainableMixtureOfDeltas(num_components=3)
        >>> initializer([4, 2]).shape, initializer.loc.shape
        (TensorShape([4, 2]), TensorShape([4, 2, 3]))
    """

    parameter_names = ("loc",)
    starts = ("he_normal",)

    def __init__(
        self,
        num_components=5,
        loc_initializer=None,
        loc_regularizer=None,
        loc_constraint=None,
        seed=None,
        **kwargs,
    ):
        if num_components < 1:
            raise ValueError(f"num_components must be at least 1, got {num_components}")
        super().__init__(seed=seed, **kwargs)
        self.num_components = num_components
        self._declare(locals())

    def _parameter_shape(self, name):
        return (*self.weight_shape, self.num_components)

    def _initial_value(self, name, shape, dtype=None, **kwargs):
        del kwargs
        scope = f"{self.seed_scope}/{name}"
        initializers = [
            fresh(self.loc_initializer, self.seed, f"{scope}/{component}")
            for component in range(self.num_components)
        ]
        return tf.stack([x(shape[:-1], dtype=dtype) for x in initializers], -1)

    def _distribution(self):
        (loc,) = self.parameters()
        uniform = tfd.Categorical(logits=tf.zeros([self.num_components], loc.dtype))
        return tfd.MixtureSameFamily(uniform, tfd.Deterministic(loc))
