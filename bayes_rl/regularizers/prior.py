"""Priors that hold variables: learned with the posterior, or a posterior kept from before.

They are Keras layers. A layer with such a prior makes its own copy, one a weight, and
tracks its variables.
"""

import tensorflow as tf
from tensorflow_probability import distributions as tfd

from bayes_rl import constraints, initializers
from bayes_rl.initializers.seeding import fresh
from bayes_rl.initializers.trainable import build_for
from bayes_rl.regularizers.base import (
    KLDivergence,
    LocationScaleKLDivergence,
    naming,
    prior_parameter,
)
from bayes_rl.serialization import register
from bayes_rl.weights import forget_functions, named_weights, renew_templates


class PriorLayer(KLDivergence, tf.keras.layers.Layer):
    """KL divergence to a prior whose parameters are variables of this Keras layer."""

    def __init__(self, scale_factor=1.0, num_samples=1, seed=None, **kwargs):
        tf.keras.layers.Layer.__init__(self, **kwargs)
        super().__init__(scale_factor, num_samples, seed)
        self.seed_scope = self.name

    def unbuilt(self, **options):
        """A copy without variables of its own, with some options changed."""
        # The configuration has the value of a variable; the copy shares the variable.
        config = self.get_config() | {"scale_factor": self.scale_factor} | options
        return type(self).from_config(config)


@register
class TrainableNormalKLDivergenceStdDev(PriorLayer):
    """KL divergence to a normal prior with a trainable stddev for each element.

        KL = sum(log(stddev / s) + (s^2 + (m - mean)^2) / (2 stddev^2) - 1/2)

    for a posterior Normal(m, s), with stddev a variable that training fits to the
    posterior. Every layer that is given this object makes a copy of its own.

    Source: MacKay, 1992, A Practical Bayesian Framework for Backpropagation Networks,
    section 3 (type II maximum likelihood of a prior's scale).

    Args:
        mean: of the prior, as in `NormalKLDivergence`.
        stddev_initializer: of the variable `stddev`, which is before the constraint;
            default: near softplus^-1(1).
        stddev_regularizer: Keras regularizer of the variable `stddev`.
        stddev_constraint: applied to the variable `stddev` when it is used.
        scale_factor: as in `NormalKLDivergence`.
        seed: int; with it and the name of the weight, initial values are reproducible.
        num_samples: as in `NormalKLDivergence`.
        **kwargs: of `tf.keras.layers.Layer`.

    Example:
        >>> import bayes_rl as ed
        >>> prior = ed.regularizers.TrainableNormalKLDivergenceStdDev()
        >>> layer = ed.layers.DenseFlipout(4, kernel_regularizer=prior, name="dense")
        >>> _ = layer(tf.ones([1, 3]))
        >>> [v.name for v in layer.kernel_regularizer.trainable_weights]
        ['dense/kernel_prior/stddev:0']
    """

    def __init__(
        self,
        mean=0.0,
        stddev_initializer=None,
        stddev_regularizer=None,
        stddev_constraint="softplus",
        scale_factor=1.0,
        seed=None,
        num_samples=1,
        **kwargs,
    ):
        super().__init__(scale_factor, num_samples, seed, **kwargs)
        self.mean = mean
        if stddev_initializer is None:
            stddev_initializer = tf.keras.initializers.TruncatedNormal(0.5413248, 0.1)
        self.stddev_initializer = initializers.get(stddev_initializer)
        self.stddev_regularizer = tf.keras.regularizers.get(stddev_regularizer)
        self.stddev_constraint = constraints.get(stddev_constraint)

    def build(self, shape):
        self.weight_shape = tuple(shape)
        scope = f"{self.seed_scope}/stddev"
        with tf.name_scope(self.name):
            self.stddev = self.add_weight(
                "stddev",
                self.weight_shape,
                initializer=fresh(self.stddev_initializer, self.seed, scope),
                regularizer=self.stddev_regularizer,
            )
        self.built = True

    def make_prior(self, shape, dtype):
        build_for(self, shape)
        stddev = tf.convert_to_tensor(self.stddev)
        if self.stddev_constraint is not None:
            stddev = self.stddev_constraint(stddev)
        return tfd.Normal(prior_parameter(self.mean, "mean", shape, dtype), stddev)


@register
class PriorKLDivergence(PriorLayer):
    """KL divergence to a prior of any family, given as a trainable initializer.

        KL = E[log posterior(weight) - log prior(weight)],  weight ~ posterior

    in closed form where there is one, else at draws. The prior's variables are trained with
    the posterior, or kept: as the posterior of earlier data, for example
    (`set_prior_to_posterior`). Every layer that is given this object makes a copy.

    Source: Nguyen et al., 2018, Variational Continual Learning, section 2.

    Args:
        prior: a trainable initializer, by name, configuration or object.
        trainable_prior: whether training changes the prior.
        scale_factor, num_samples: as in `KLDivergence`.
        seed: int; of the initial values of the prior, and of draws as in
            `KLDivergence`.
        **kwargs: of `tf.keras.layers.Layer`.

    Raises:
        ValueError: `prior` is no trainable initializer.

    Example:
        >>> import bayes_rl as ed
        >>> prior = ed.regularizers.PriorKLDivergence("trainable_normal_shared_stddev")
        >>> layer = ed.layers.DenseFlipout(4, kernel_regularizer=prior, name="dense")
        >>> layer.build([None, 3])
        >>> [v.shape for v in layer.kernel_regularizer.trainable_weights]
        [TensorShape([3, 4]), TensorShape([])]
    """

    def __init__(
        self,
        prior="trainable_normal",
        trainable_prior=True,
        scale_factor=1.0,
        num_samples=1,
        seed=None,
        **kwargs,
    ):
        super().__init__(scale_factor, num_samples, seed, **kwargs)
        self.prior = initializers.get(prior)
        if not isinstance(self.prior, tf.keras.layers.Layer):
            raise ValueError(f"prior must be a trainable initializer, got {prior!r}")
        self.trainable_prior = trainable_prior

    def build(self, shape):
        self.weight_shape = tuple(shape)
        self.prior = initializers.own(self.prior, self.name, self.seed_scope, self.dtype)
        if self.prior.seed is None:
            self.prior.seed = self.seed
        self.prior.trainable = self.trainable_prior
        self.prior.build(self.weight_shape)
        self.built = True

    def make_prior(self, shape, dtype):
        build_for(self, shape)
        return self.prior(self.weight_shape).distribution


def own(regularizer, key, scope, shape, dtype):
    """A layer's own copy of a regularizer that holds variables; others as they are.

    Args:
        regularizer: Keras regularizer or layer, or None.
        key: name of the weight in its layer.
        scope: full name of the weight; initial values differ by it.
        shape: of the weight.
        dtype: type of the prior's parameters.

    Returns:
        The regularizer, built for this weight.

    Raises:
        ValueError: the prior does not fit the shape.
    """
    if isinstance(regularizer, LocationScaleKLDivergence):
        with naming(scope):
            regularizer.prior_parameters(tuple(shape), dtype)
    if not isinstance(regularizer, PriorLayer):
        return regularizer
    copy = regularizer.unbuilt(name=f"{key}_prior", dtype=dtype)
    copy.seed_scope = f"{scope}_prior"
    copy.build(tuple(shape))
    return copy


def set_prior_to_posterior(model):
    """Makes the present posterior the prior of every weight that has a cost.

        KL = KL(posterior || posterior when this was called)

    The prior is kept in variables that are not trained and are saved with the model. The
    first call replaces regularizers, but for those that keep a prior of the posterior's
    kind: functions that were traced before keep the old prior, except for those of
    `tf.keras.Model.fit`. Later calls only assign variables.

    Source: Nguyen et al., 2018, Variational Continual Learning, equation 3.

    Args:
        model: as in `bayes_rl.sample_weights`.

    Example:
        >>> import bayes_rl as ed
        >>> layer = ed.layers.DenseFlipout(4)
        >>> layer.build([None, 3])
        >>> ed.regularizers.set_prior_to_posterior(layer)
        >>> [float(kl) for kl in layer.losses]
        [0.0]
    """
    replaced = False
    for layer, weight in named_weights(model).values():
        if weight.regularizer is None:
            continue
        if not _keeps_posterior(weight):
            prior = keep_prior(_without_costs(weight.initializer), weight.regularizer)
            layer.set_regularizer(weight.key, prior)
            replaced = True
        kept = layer.stochastic_weights[weight.key].regularizer.prior
        for variable, value in zip(kept.weights, weight.initializer.weights, strict=True):
            variable.assign(value)
    if replaced:
        renew_templates(model)
        forget_functions(model)


def _keeps_posterior(weight):
    kept = weight.regularizer
    return (
        isinstance(kept, PriorKLDivergence)
        and not kept.trainable_prior
        and _kind(kept.prior) == _kind(weight.initializer)
    )


def _kind(initializer):
    """What a posterior is beside the values of its variables."""
    passing = ("_initializer", "_regularizer", "seed")
    config = initializer.get_config().items()
    return type(initializer), {k: v for k, v in config if not k.endswith(passing)}


def _without_costs(initializer):
    config = initializer.get_config()
    config |= {key: None for key in config if key.endswith("_regularizer")}
    return type(initializer).from_config(config)


def keep_prior(prior, regularizer):
    """Cost with a prior that is kept, scaled and estimated as the cost that it replaces."""
    names = ("scale_factor", "num_samples", "seed")
    options = {
        name: getattr(regularizer, name) for name in names if hasattr(regularizer, name)
    }
    return PriorKLDivergence(prior, trainable_prior=False, **options)
