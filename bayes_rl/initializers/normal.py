"""Normal posteriors over a weight."""

import zlib

import tensorflow as tf
from tensorflow_probability import distributions as tfd

from bayes_rl import constraints
from bayes_rl.initializers.scaled import ScaledNormalStdDev
from bayes_rl.random_variable import RandomVariable
from bayes_rl.serialization import make_get, register, serialize

_get = make_get({"scaled_normal_std_dev": ScaledNormalStdDev}, tf.keras.initializers)


def _seeded(initializer, seed, scope):
    """A copy of an initializer; without a seed of its own it takes one of `scope`."""
    if not hasattr(initializer, "get_config"):
        return initializer
    config = initializer.get_config()
    if seed is not None and config.get("seed", 0) is None:
        config["seed"] = zlib.crc32(f"{seed}/{scope}".encode()) & 0x7FFFFFFF
    return type(initializer).from_config(config)


@register
class TrainableNormal(tf.keras.layers.Layer, tf.keras.initializers.Initializer):
    """Normal posterior over a weight with trainable mean and stddev.

        weight ~ Normal(mean_constraint(mean), stddev_constraint(stddev))

    Source: Blundell et al., 2015, Weight Uncertainty in Neural Networks, section 3.2.

    Args:
        mean_initializer: of the variable `mean`; default: near 0.
        stddev_initializer: of the variable `stddev`, which is before the constraint;
            default: near -3, that is a stddev of about 0.05. `ScaledNormalStdDev` gives
            the stddev itself.
        mean_regularizer: Keras regularizer of the variable `mean`.
        stddev_regularizer: Keras regularizer of the variable `stddev`.
        mean_constraint: applied to the variable `mean` when it is used.
        stddev_constraint: applied to the variable `stddev` when it is used.
        seed: int; with it and the name of the weight, initial values are reproducible.
        **kwargs: of `tf.keras.layers.Layer`.

    Example:
        >>> import bayes_rl as ed
        >>> weight = ed.initializers.TrainableNormal(mean_initializer="zeros")([3, 2])
        >>> weight.shape, float(weight.mean()[0, 0])
        (TensorShape([3, 2]), 0.0)
    """

    def __init__(
        self,
        mean_initializer=None,
        stddev_initializer=None,
        mean_regularizer=None,
        stddev_regularizer=None,
        mean_constraint=None,
        stddev_constraint="softplus",
        seed=None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        if mean_initializer is None:
            mean_initializer = tf.keras.initializers.TruncatedNormal(stddev=1e-5)
        if stddev_initializer is None:
            stddev_initializer = tf.keras.initializers.TruncatedNormal(-3.0, 0.1)
        self.mean_initializer = _get(mean_initializer)
        self.stddev_initializer = _get(stddev_initializer)
        self.mean_regularizer = tf.keras.regularizers.get(mean_regularizer)
        self.stddev_regularizer = tf.keras.regularizers.get(stddev_regularizer)
        self.mean_constraint = constraints.get(mean_constraint)
        self.stddev_constraint = constraints.get(stddev_constraint)
        self.seed = seed
        self.seed_scope = self.name

    def build(self, shape):
        self.weight_shape = tuple(tf.TensorShape(shape).as_list())
        with tf.name_scope(self.name):
            self._build_mean()
            self._build_stddev()
        self.built = True

    def _build_mean(self):
        self.mean = self.add_weight(
            "mean",
            self.weight_shape,
            initializer=_seeded(
                self.mean_initializer, self.seed, f"{self.seed_scope}/mean"
            ),
            regularizer=self.mean_regularizer,
        )

    def _build_stddev(self):
        self.stddev = self.add_weight(
            "stddev",
            self._stddev_shape(),
            initializer=self._initial_stddev,
            regularizer=self.stddev_regularizer,
        )

    def _stddev_shape(self):
        return self.weight_shape

    def _initial_stddev(self, shape, dtype=None, **kwargs):
        del kwargs
        scope = f"{self.seed_scope}/stddev"
        initializer = _seeded(self.stddev_initializer, self.seed, scope)
        if not isinstance(initializer, ScaledNormalStdDev):
            return initializer(shape, dtype=dtype)
        stddev = initializer(shape, dtype=dtype, fan_shape=self.weight_shape)
        if self.stddev_constraint is None:
            return stddev
        return self.stddev_constraint.inverse(stddev)

    def parameters(self):
        """Mean [*shape] and stddev, which broadcasts to it, both after constraints."""
        mean, stddev = tf.convert_to_tensor(self.mean), tf.convert_to_tensor(self.stddev)
        if self.mean_constraint is not None:
            mean = self.mean_constraint(mean)
        if self.stddev_constraint is not None:
            stddev = self.stddev_constraint(stddev)
        return mean, stddev

    def __call__(self, shape, dtype=None):
        """Random variable of the weight; builds the parameters at the first call.

        Args:
            shape: of the weight.
            dtype: unused; the parameters have the layer's type.

        Returns:
            A `RandomVariable` of `Independent(Normal)`, event_shape = shape.

        Raises:
            ValueError: it was built for another shape.
        """
        del dtype
        shape = tuple(tf.TensorShape(shape).as_list())
        if not self.built:
            with tf.init_scope():
                self.build(shape)
        if shape != self.weight_shape:
            raise ValueError(
                f"{type(self).__name__} {self.name!r} holds the posterior of a weight of "
                f"shape {self.weight_shape}, asked for {shape}; use another object"
            )
        normal = tfd.Normal(*self.parameters())
        return RandomVariable(tfd.Independent(normal, len(shape)))

    def get_config(self):
        return {
            "mean_initializer": serialize(self.mean_initializer),
            "stddev_initializer": serialize(self.stddev_initializer),
            "mean_regularizer": serialize(self.mean_regularizer),
            "stddev_regularizer": serialize(self.stddev_regularizer),
            "mean_constraint": serialize(self.mean_constraint),
            "stddev_constraint": serialize(self.stddev_constraint),
            "seed": self.seed,
        }


@register
class TrainableHeNormal(TrainableNormal):
    """`TrainableNormal` with initial means of variance 2 / fan_in, for ReLU.

    Source: He et al., 2015, Delving Deep into Rectifiers, equation 10.

    Args:
        seed: as in `TrainableNormal`.
        **kwargs: as in `TrainableNormal`.
    """

    def __init__(self, seed=None, **kwargs):
        kwargs.setdefault("mean_initializer", "he_normal")
        super().__init__(seed=seed, **kwargs)


@register
class TrainableGlorotNormal(TrainableNormal):
    """`TrainableNormal` with initial means of variance 2 / (fan_in + fan_out).

    Source: Glorot and Bengio, 2010, Understanding the Difficulty of Training Deep
    Feedforward Neural Networks, equation 16.

    Args:
        seed: as in `TrainableNormal`.
        **kwargs: as in `TrainableNormal`.
    """

    def __init__(self, seed=None, **kwargs):
        kwargs.setdefault("mean_initializer", "glorot_normal")
        super().__init__(seed=seed, **kwargs)


@register
class TrainableNormalSharedStddev(TrainableNormal):
    """`TrainableNormal` with one stddev for all elements of the weight.

    Args: as in `TrainableNormal`.

    Example:
        >>> initializer = TrainableNormalSharedStddev()
        >>> initializer.build([3, 2])
        >>> initializer.stddev.shape
        TensorShape([])
    """

    def _stddev_shape(self):
        return ()


@register
class TrainableNormalFixedStddev(TrainableNormal):
    """`TrainableNormal` whose stddev is given, not trained.

    Args:
        stddev: above 0.
        mean_initializer: as in `TrainableNormal`.
        mean_regularizer: as in `TrainableNormal`.
        mean_constraint: as in `TrainableNormal`.
        seed: as in `TrainableNormal`.
        **kwargs: of `tf.keras.layers.Layer`.

    Raises:
        ValueError: `stddev` is not above 0.

    Example:
        >>> weight = TrainableNormalFixedStddev(stddev=0.5)([3, 2])
        >>> float(weight.stddev()[0, 0])
        0.5
    """

    def __init__(
        self,
        stddev=1.0,
        mean_initializer=None,
        mean_regularizer=None,
        mean_constraint=None,
        seed=None,
        **kwargs,
    ):
        if stddev <= 0:
            raise ValueError(f"stddev must be above 0, got {stddev}")
        super().__init__(
            mean_initializer=mean_initializer,
            mean_regularizer=mean_regularizer,
            mean_constraint=mean_constraint,
            stddev_constraint=None,
            seed=seed,
            **kwargs,
        )
        self.stddev = float(stddev)

    def _build_stddev(self):
        pass

    def parameters(self):
        mean = tf.convert_to_tensor(self.mean)
        if self.mean_constraint is not None:
            mean = self.mean_constraint(mean)
        return mean, tf.constant(self.stddev, mean.dtype)

    def get_config(self):
        return {
            "stddev": self.stddev,
            "mean_initializer": serialize(self.mean_initializer),
            "mean_regularizer": serialize(self.mean_regularizer),
            "mean_constraint": serialize(self.mean_constraint),
            "seed": self.seed,
        }


def own(initializer, name, scope, dtype):
    """A layer's own copy of a trainable initializer.

    Args:
        initializer: a Keras layer.
        name: of the weight in its layer.
        scope: full name of the weight; initial values differ by it.
        dtype: type of the parameters.

    Returns:
        An unbuilt copy.
    """
    config = {**initializer.get_config(), "name": name, "dtype": dtype}
    copy = type(initializer).from_config(config)
    copy.seed_scope = scope
    return copy
