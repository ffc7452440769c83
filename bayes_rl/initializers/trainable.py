"""TrainableInitializer: what every posterior over a weight shares."""

import functools

import numpy as np
import tensorflow as tf
from tensorflow_probability import distributions as tfd

from bayes_rl import constraints
from bayes_rl.initializers.seeding import fresh
from bayes_rl.initializers.start_values import (
    ScaledNormalStdDev,
    get_condconv_initializer,
)
from bayes_rl.random_variables.random_variable import RandomVariable
from bayes_rl.serialization import make_get, serialize

_get = make_get({"scaled_normal_std_dev": ScaledNormalStdDev}, tf.keras.initializers)


class TrainableInitializer(tf.keras.layers.Layer, tf.keras.initializers.Initializer):
    """Keras layer that holds the parameters of the posterior of one weight.

    A subclass names its `parameter_names`, declares what its constructor is given for them,
    and makes a distribution of their values in `_distribution`.

    Args:
        seed: int; with it and the name of the weight, initial values are reproducible.
        **kwargs: of `tf.keras.layers.Layer`.

    Example:
        >>> class TrainableLaplace(TrainableInitializer):
        ...     parameter_names = ("loc",)
        ...     def __init__(self, loc_initializer="ones", loc_regularizer=None,
        ...                  loc_constraint=None, seed=None, **kwargs):
        ...         super().__init__(seed, **kwargs)
        ...         self._declare(locals())
        ...     def _distribution(self):
        ...         return tfd.Laplace(*self.parameters(), 0.1)
        >>> float(TrainableLaplace()([3, 2]).mean()[0, 0])
        1.0
    """

    parameter_names = ()
    # Locations near 0, and scales of softplus(-3), which is about 0.05.
    starts = (
        tf.keras.initializers.TruncatedNormal(stddev=1e-5),
        tf.keras.initializers.TruncatedNormal(-3.0, 0.1),
    )
    expert_shape = None  # of each row, where it was given; see `get_condconv_initializer`

    def __init__(self, seed=None, **kwargs):
        super().__init__(**kwargs)
        self.seed = seed
        self.seed_scope = self.name
        # `trainable` also changes when the layer around this is frozen for a time.
        self._is_trained = self.trainable

    def _declare(self, given):
        """Keeps what the constructor, by its arguments `given`, says of each parameter."""
        for name, default in zip(self.parameter_names, self.starts, strict=False):
            initializer = given[f"{name}_initializer"] or default
            setattr(self, f"{name}_initializer", _get(initializer))
            regularizer = tf.keras.regularizers.get(given[f"{name}_regularizer"])
            setattr(self, f"{name}_regularizer", regularizer)
            constraint = constraints.get(given[f"{name}_constraint"])
            setattr(self, f"{name}_constraint", constraint)

    def _parameter_shape(self, name):
        del name
        return self.weight_shape

    def _distribution(self):
        """TFP distribution whose batch_shape or event_shape is the weight's shape."""
        raise NotImplementedError

    def build(self, shape):
        """Makes the parameters' variables.

        Args:
            shape: of the weight.
        """
        self.weight_shape = tuple(tf.TensorShape(shape).as_list())
        with tf.name_scope(self.name):
            for name in self.parameter_names:
                variable = self.add_weight(
                    name,
                    self._parameter_shape(name),
                    initializer=functools.partial(self._initial_value, name),
                    regularizer=getattr(self, f"{name}_regularizer"),
                    trainable=self.trainable,
                )
                setattr(self, name, variable)
        self.built = True

    def _initial_value(self, name, shape, dtype=None, **kwargs):
        del kwargs
        initializer = fresh(
            getattr(self, f"{name}_initializer"), self.seed, f"{self.seed_scope}/{name}"
        )
        if not isinstance(initializer, ScaledNormalStdDev):
            return self._start(initializer, shape, dtype)
        fan_shape = self.expert_shape or self.weight_shape
        value = initializer(shape, dtype=dtype, fan_shape=fan_shape)
        return unconstrained(name, value, getattr(self, f"{name}_constraint"))

    def _start(self, initializer, shape, dtype):
        """Values of an initializer; those of each expert where a weight's rows are such."""
        if self.expert_shape is not None and tuple(shape) == self.weight_shape:
            initializer = get_condconv_initializer(initializer, shape[0], self.expert_shape)
        return initializer(shape, dtype=dtype)

    def parameters(self):
        """Values of the parameters after their constraints, in the order of their names."""
        return tuple(self._parameter(name) for name in self.parameter_names)

    def _parameter(self, name):
        value = tf.convert_to_tensor(getattr(self, name))
        constraint = getattr(self, f"{name}_constraint")
        return value if constraint is None else constraint(value)

    def assign(self, **values):
        """Sets parameters, given as they are after their constraints.

        Args:
            **values: name of a parameter -> value, which broadcasts to its shape.

        Raises:
            ValueError: it has no parameter of this name, or its constraint does not give
                the value.
        """
        for name, value in values.items():
            if name not in self.parameter_names:
                raise ValueError(
                    f"{type(self).__name__} has the parameters {self.parameter_names}, "
                    f"got {name!r}"
                )
            variable = getattr(self, name)
            value = tf.broadcast_to(tf.cast(value, variable.dtype), variable.shape)
            constraint = getattr(self, f"{name}_constraint")
            variable.assign(unconstrained(name, value, constraint))

    def __call__(self, shape, dtype=None):
        """Random variable of a weight of this shape; the first call builds the parameters.

        `dtype` is unused: the parameters have the layer's type.

        Raises:
            ValueError: it was built for another shape.
        """
        del dtype
        shape = build_for(self, shape)
        distribution = self._distribution()
        return RandomVariable(
            distribution
            if distribution.event_shape.rank
            else tfd.Independent(distribution, len(shape))
        )

    def get_config(self):
        config = {"seed": self.seed, "trainable": self._is_trained}
        for name in self.parameter_names:
            for part in ("initializer", "regularizer", "constraint"):
                config[f"{name}_{part}"] = serialize(getattr(self, f"{name}_{part}"))
        return config


def build_for(layer, shape):
    """Builds a layer that holds distributions of one weight, if need be, for its shape.

    Returns:
        The shape, as a tuple.

    Raises:
        ValueError: it was built for another one.
    """
    shape = tuple(tf.TensorShape(shape).as_list())
    if not layer.built:
        with tf.init_scope():
            layer.build(shape)
    if shape != layer.weight_shape:
        raise ValueError(
            f"{type(layer).__name__} {layer.name!r} is that of a weight of shape "
            f"{layer.weight_shape}, asked for {shape}; use another object"
        )
    return shape


def unconstrained(name, value, constraint):
    """What a constraint maps to a value: its inverse, or the value where it has none.

    Raises:
        ValueError: the constraint does not map that to the value of a parameter; this is
            not checked in graphs.
    """
    if constraint is None:
        return value
    raw = constraint.inverse(value) if hasattr(constraint, "inverse") else value
    if not tf.executing_eagerly():
        return raw
    given, found = (np.ravel(x).astype(float) for x in (value, constraint(raw)))
    # Where the least value of a constraint is near 0, it stands for 0.
    wrong = ~np.isclose(found, given, rtol=0.01, atol=1e-6)
    if np.any(wrong):
        label = getattr(constraint, "__name__", type(constraint).__name__)
        raise ValueError(
            f"{name} cannot be {given[wrong][0]:.7g} under its constraint {label}, which "
            f"gives {found[wrong][0]:.7g}; take a value in its range, and a constraint "
            "with a method inverse, such as 'softplus'"
        )
    return raw


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
    copy.expert_shape = getattr(initializer, "expert_shape", None)
    return copy
