"""StochasticLayer: what every layer with a posterior over its weights shares."""

import dataclasses
import functools

import tensorflow as tf
from tensorflow_probability import distributions as tfd

from bayes_rl import constraints, initializers, regularizers
from bayes_rl.compatibility.versions import check_keras
from bayes_rl.layers import products
from bayes_rl.layers.base.arguments import own_names
from bayes_rl.layers.base.scaled_kl import as_scale, configuration
from bayes_rl.layers.base.stochastic_weight import StochasticWeight, make_weight
from bayes_rl.layers.precision import parameter_dtype
from bayes_rl.random_variables.random_variable import RandomVariable
from bayes_rl.random_variables.tracing import is_tracing
from bayes_rl.regularizers.base import KLDivergence
from bayes_rl.serialization import serialize
from bayes_rl.weights import (
    check_inputs_are_whole,
    held,
    warn_of_no_kl,
    warn_of_whole_kl,
)


class StochasticLayer:
    """Mixin, left of a Keras layer: initializers that are layers make posteriors.

    `add_weight` with such an initializer registers a stochastic weight named
    `<layer>/<weight>` and adds its cost to `losses`, once, however often the layer is
    called. `call` of a subclass asks `draw` for the weight; where it holds nothing it
    draws anew. Nothing is stored on the layer in `call`.

    `own_arguments` of a class are names of arguments of its constructor that Keras does not
    know: they become attributes, and parts of the configuration. A class that `looks_up`
    rows takes numbers of rows, floats too, in place of features.
    """

    own_arguments = ()
    looks_up = False

    def __init__(self, *args, **kwargs):
        names = [name for name in own_names(type(self)) if name in kwargs]
        own = {name: kwargs.pop(name) for name in names}
        scale = as_scale(kwargs.pop("kl_scale", None))
        super().__init__(*args, **kwargs)
        self._kl_scale = scale
        for name, value in own.items():
            is_constraint = name.endswith("_constraint")
            setattr(self, name, constraints.get(value) if is_constraint else value)

    def get_config(self):
        own = {name: getattr(self, name) for name in own_names(type(self))}
        for name, value in own.items():
            # What Keras serializes for SavedModels has to be an object.
            own[name] = serialize(value) if hasattr(value, "get_config") else value
        return {**super().get_config(), **own, **configuration(self.kl_scale)}

    @property
    def stochastic_weights(self):
        """Name within the layer -> `StochasticWeight`; empty before the layer is built."""
        return vars(self).get("_stochastic_weights", {})

    @property
    def kl_scale(self):
        """What the costs of the layer's weights are multiplied by, see `ed.scale_kl`."""
        return self._kl_scale

    def scaled(self, cost):
        """A cost times the scale of this moment."""
        return cost * self.kl_scale(cost.dtype)

    def build(self, input_shape):
        if not isinstance(input_shape, dict):
            self._input_rank = tf.TensorShape(input_shape).rank
        super().build(input_shape)

    def __call__(self, inputs, *args, **kwargs):
        check_keras(inputs)
        return super().__call__(self.whole_for_each_draw(inputs), *args, **kwargs)

    def whole_for_each_draw(self, inputs):
        """Inputs of the rank that the layer was built for have no axis of draws yet."""
        rank = tf.TensorShape(getattr(inputs, "shape", None)).rank
        is_paired = rank is None or rank != vars(self).get("_input_rank")
        draws = [] if is_paired else self.held_draws()
        if draws:
            check_inputs_are_whole()
        has_features = not self.looks_up and tf.as_dtype(inputs.dtype).is_floating
        if not draws or (rank == 2 and has_features):
            return inputs  # Products of matrices with S kernels need no copies.
        return _with_draws(inputs, draws)

    def sign_sizes(self):
        """Sizes of the signs per example that an estimator such as Flipout can hold."""
        return {}

    def add_weight(self, name=None, shape=None, **kwargs):
        """Adds a variable, or a `StochasticWeight` where the initializer is a Keras layer.

        Raises:
            ValueError: a stochastic weight is given a constraint.
        """
        initializer = initializers.get(kwargs.pop("initializer", None))
        regularizer = regularizers.get(kwargs.pop("regularizer", None))
        regularizer = self._own_regularizer(regularizer, regularizer, name, shape)
        if not isinstance(initializer, tf.keras.layers.Layer):
            is_kl = isinstance(regularizer, KLDivergence)
            kwargs["regularizer"] = None if is_kl else regularizer
            variable = super().add_weight(name, shape, initializer=initializer, **kwargs)
            if is_kl:
                self.add_loss(functools.partial(self._cost_of_point, regularizer, variable))
            return variable
        if kwargs.get("constraint") is not None:
            raise ValueError(
                f"weight {name!r} has a posterior, so its constraint must be None, got "
                f"{kwargs['constraint']}; give the initializer a mean_constraint"
            )
        return self._add_stochastic_weight(name, shape, initializer, regularizer)

    def _add_stochastic_weight(self, key, shape, initializer, regularizer):
        name = f"{self.name}/{key}"
        shape = tuple(tf.TensorShape(shape).as_list())
        posterior = initializers.own(initializer, key, name, self._parameter_dtype())
        self._replace_attribute(initializer, posterior, f"{key}_initializer")
        posterior.build(shape)
        scale = self.kl_scale
        weight = StochasticWeight(key, name, shape, posterior, regularizer, scale)
        vars(self).setdefault("_stochastic_weights", {})[key] = weight
        if regularizer is not None:
            # A function of the layer itself, unlike a closure, is copied with it.
            self.add_loss(functools.partial(self._cost_in_losses, key))
        return weight

    def _cost_of_point(self, regularizer, variable):
        return self.scaled(regularizer(variable)) if self.trainable else None

    def _cost_in_losses(self, key):
        weight = self.stochastic_weights[key]
        if not self.trainable or weight.regularizer is None:
            # Keras leaves it out; the cost of a frozen posterior is a constant.
            return None
        if weight.scale.value is None and getattr(weight.regularizer, "is_whole", True):
            warn_of_whole_kl(weight.cost)
        return weight.cost()

    def _own_regularizer(self, old, regularizer, key, shape):
        shape = tuple(tf.TensorShape(shape or ()).as_list())
        name, dtype = f"{self.name}/{key}", self._parameter_dtype()
        copy = regularizers.own(regularizer, key, name, shape, dtype)
        if copy is not old:
            self._replace_attribute(old, copy, f"{key}_regularizer")
        return copy

    def set_regularizer(self, key, regularizer):
        """Replaces the cost of a stochastic weight that has one; with None it has none.

        Functions that were traced before keep the old one.

        Raises:
            ValueError: the weight has no regularizer.
        """
        weight = self.stochastic_weights[key]
        if weight.regularizer is None:
            raise ValueError(
                f"weight {weight.name!r} has no regularizer to replace; make the layer "
                "with one"
            )
        old, regularizer = weight.regularizer, regularizers.get(regularizer)
        posterior, _, _ = weight.initializer.weights[0].name.rpartition(f"{key}/")
        with tf.name_scope(posterior):  # In which variables of a built layer are named.
            copy = self._own_regularizer(old, regularizer, key, weight.shape)
        self.stochastic_weights[key] = dataclasses.replace(weight, regularizer=copy)

    def _parameter_dtype(self):
        return parameter_dtype(self).name

    def _replace_attribute(self, old, new, default):
        names = [name for name, value in vars(self).items() if value is old]
        setattr(self, names[0] if names else default, new)

    def random_variable(self, key):
        """Random variable of a weight, seen by tracers; its value is the held one."""
        weight = self.stochastic_weights[key]
        posterior, value = weight.posterior(), held(self, key)
        if value is not None:
            value = tf.cast(value, posterior.dtype)
            if not value.shape.is_compatible_with(weight.shape):
                posterior = _stacked(posterior, value)
        owner = weight.initializer
        return make_weight(posterior, name=weight.name, value=value, owner=owner)

    def call_weights(self):
        """A random variable of each stochastic weight, by its name within the layer.

        `call` needs it not: it draws by itself, and stores nothing.
        """
        return {key: self.random_variable(key) for key in self.stochastic_weights}

    def given(self, key):
        """A weight that is held, set by a tracer or without posterior; else None."""
        value, is_given = self._draw(key, fresh=False)
        return value if is_given else None

    def draw(self, key, dtype=None):
        """The weight to compute with, [*shape] or, where S draws are held, [S, *shape]."""
        return tf.cast(self._draw(key)[0], dtype or self.compute_dtype)

    def draw_perturbation(self, key):
        """Mean of a stochastic weight and what its draw adds to it.

        Of a weight that is set without signs, (weight, None).
        """
        weight = self.stochastic_weights[key]
        value, is_given = self._draw(key, fresh=False)
        if is_given and held(self, f"{key}/sign_input") is None:
            return tf.cast(value, self.compute_dtype), None
        mean = weight.mean()
        if value is None:
            change = weight.draw(centered=True)
        else:
            change = tf.cast(value, mean.dtype) - mean
        return tf.cast(mean, self.compute_dtype), tf.cast(change, self.compute_dtype)

    def moments(self, key):
        """Mean and variance of a stochastic weight, as `StochasticWeight.moments`."""
        return self._told_of(key).moments()

    def held_draws(self):
        """[S] where S draws of the layer's weights are held, else []."""
        for key, weight in self.stochastic_weights.items():
            value = held(self, key)
            if value is not None and value.shape.rank > len(weight.shape):
                return [value.shape[0] or tf.shape(value)[0]]
        return []

    def _told_of(self, key):
        """The weight that a call uses; a warning where `fit` has no cost for it."""
        weight = self.stochastic_weights[key]
        if weight.regularizer is None and self.trainable:
            warn_of_no_kl(weight)
        return weight

    def _draw(self, key, fresh=True):
        """(value, whether it was set); (None, False) for no value where not `fresh`."""
        if key not in self.stochastic_weights:
            return getattr(self, key), True
        weight = self._told_of(key)
        if is_tracing():
            variable = self.random_variable(key)
            return variable.value, variable.is_given
        value = held(self, key)
        if value is None and fresh:
            return weight.draw(), False
        return value, value is not None


def _stacked(posterior, value):
    return tfd.Sample(posterior, tf.shape(value)[:1])


def _with_draws(inputs, draws):
    """Inputs with an axis of draws, [S], in front; a random variable stays one."""
    if not isinstance(inputs, RandomVariable):
        return _broadcast(tf.convert_to_tensor(inputs), draws)
    ones = [1] * inputs.distribution.batch_shape.rank
    distribution = tfd.BatchBroadcast(
        inputs.distribution, with_shape=[*draws, *inputs.sample_shape, *ones]
    )
    return RandomVariable(distribution, draw=lambda: _broadcast(inputs.value, draws))


def _broadcast(tensor, draws):
    return tf.broadcast_to(tensor, [*draws, *products.sizes(tensor)])
