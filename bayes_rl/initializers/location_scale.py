"""Posteriors of weights that are points, heavy-tailed or positive."""

import tensorflow as tf
from tensorflow_probability import distributions as tfd

from bayes_rl import checks
from bayes_rl.initializers.seeding import fresh
from bayes_rl.initializers.trainable import TrainableInitializer
from bayes_rl.serialization import register


class _LocationScale(TrainableInitializer):
    parameter_names = ("loc", "scale")
    distribution_class = None

    def __init__(
        self,
        loc_initializer=None,
        scale_initializer=None,
        loc_regularizer=None,
        scale_regularizer=None,
        loc_constraint=None,
        scale_constraint="softplus",
        seed=None,
        **kwargs,
    ):
        super().__init__(seed=seed, **kwargs)
        self._declare(locals())

    def _distribution(self):
        return self.distribution_class(*self.parameters())


@register
class TrainableCauchy(_LocationScale):
    """Cauchy posterior over a weight with trainable median and scale.

        weight ~ Cauchy(loc_constraint(loc), scale_constraint(scale))

    It has no mean; `bayes_rl.mean_weights` gives its median loc.

    Source: Johnson, Kotz and Balakrishnan, 1994, Continuous Univariate Distributions 1,
    chapter 16.

    Args:
        loc_initializer: of the variable `loc`; default: near 0.
        scale_initializer: of the variable `scale`, which is before the constraint;
            default: near -3, that is a scale of about 0.05.
        loc_regularizer: Keras regularizer of the variable `loc`.
        scale_regularizer: Keras regularizer of the variable `scale`.
        loc_constraint: applied to the variable `loc` when it is used.
        scale_constraint: applied to the variable `scale` when it is used.
        seed: int; with it and the name of the weight, initial values are reproducible.
        **kwargs: of `tf.keras.layers.Layer`.

    Example:
        >>> weight = TrainableCauchy(loc_initializer="ones")([3, 2])
        >>> weight.shape, float(weight.distribution.distribution.loc[0, 0])
        (TensorShape([3, 2]), 1.0)
    """

    distribution_class = tfd.Cauchy


@register
class TrainableHalfCauchy(_LocationScale):
    """Half-Cauchy posterior over a positive weight: a Cauchy folded at its median.

        density(weight) = 2 / (pi scale (1 + ((weight - loc) / scale)^2)),  weight >= loc

    It has no mean; `bayes_rl.mean_weights` gives its median loc + scale. A loc below the
    prior's would have infinite KL: hence the constraint of loc, which Edward2 lacks.

    Source: Gelman, 2006, Prior Distributions for Variance Parameters, section 3.2.

    Args: as in `TrainableCauchy`; `loc_constraint` keeps the least value from below 0, and
        `loc` starts above it, where it has a gradient.

    Example:
        >>> weight = TrainableHalfCauchy()([3, 2])
        >>> bool((weight.value.numpy() > 0).all())
        True
    """

    distribution_class = tfd.HalfCauchy
    starts = (
        tf.keras.initializers.TruncatedNormal(2e-5, 5e-6),
        *TrainableInitializer.starts[1:],
    )

    def __init__(
        self,
        loc_initializer=None,
        scale_initializer=None,
        loc_regularizer=None,
        scale_regularizer=None,
        loc_constraint="positive",
        scale_constraint="softplus",
        seed=None,
        **kwargs,
    ):
        super(_LocationScale, self).__init__(seed=seed, **kwargs)
        self._declare(locals())


@register
class TrainableLogNormal(_LocationScale):
    """Log-normal posterior over a positive weight: its logarithm is normal.

        log(weight) ~ Normal(loc_constraint(loc), scale_constraint(scale))

    Source: Louizos et al., 2017, Bayesian Compression for Deep Learning, section 4.1.

    Args: as in `TrainableCauchy`; `loc` and `scale` are those of the logarithm.

    Example:
        >>> weight = TrainableLogNormal(loc_initializer="zeros")([3, 2])
        >>> bool((weight.value.numpy() > 0).all())
        True
    """

    distribution_class = tfd.LogNormal


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
        checks.at_least_1(num_components=num_components)
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
        return tf.stack([self._start(x, shape[:-1], dtype) for x in initializers], -1)

    def _distribution(self):
        (loc,) = self.parameters()
        uniform = tfd.Categorical(logits=tf.zeros([self.num_components], loc.dtype))
        return tfd.MixtureSameFamily(uniform, tfd.Deterministic(loc))
