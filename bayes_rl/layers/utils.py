"""Helpers of layers, under the names that Edward2 gives them."""

import functools

import tensorflow as tf

from bayes_rl.layers.base import StochasticLayer
from bayes_rl.layers.outputs.predictive_softmax import (
    mean_field_logits,
    monte_carlo_softmax,
)
from bayes_rl.layers.reversible.discrete.one_hot import (
    multiplicative_inverse,
    one_hot_add,
    one_hot_argmax,
    one_hot_minus,
    one_hot_multiply,
    py_multiplicative_inverse,
)
from bayes_rl.layers.reversible.discrete.sinkhorn import sinkhorn, soft_to_hard_permutation


def add_weight(cls):
    """Class decorator: `add_weight` takes initializers that are posteriors.

    Args:
        cls: subclass of `tf.keras.layers.Layer`.

    Returns:
        A `bayes_rl.layers.base.StochasticLayer` of the same name, whose `add_weight`
        returns a random variable where the initializer is a Keras layer. `self.draw(name)`
        is the weight to compute with in `call`.

    Example:
        >>> import bayes_rl as ed
        >>> @add_weight
        ... class Scale(tf.keras.layers.Layer):
        ...     def build(self, shape):
        ...         posterior = ed.initializers.TrainableNormal()
        ...         self.scale = self.add_weight("scale", [], initializer=posterior)
        ...     def call(self, inputs):
        ...         return inputs * self.draw("scale")
        >>> Scale()(tf.ones([2, 3])).shape
        TensorShape([2, 3])
    """

    class Stochastic(StochasticLayer, cls):
        def add_weight(self, name=None, shape=None, **kwargs):
            weight = super().add_weight(name, shape, **kwargs)
            is_random = name in self.stochastic_weights
            return self.random_variable(name) if is_random else weight

    return functools.update_wrapper(Stochastic, cls, updated=())


def smart_constant_value(pred):
    """The truth of a condition where it is known without running a graph.

    Args:
        pred: bool, 0, 1 or a scalar tensor.

    Returns:
        A bool, or None for a tensor whose value is not known yet.

    Raises:
        TypeError: it is none of these.

    Example:
        >>> smart_constant_value(tf.constant(True)), smart_constant_value(0)
        (True, False)
    """
    if tf.is_tensor(pred):
        value = tf.get_static_value(pred)
        return None if value is None else bool(value)
    if isinstance(pred, (bool, int)) and pred in (0, 1):
        return bool(pred)
    raise TypeError(f"pred must be a bool, 0, 1 or a tensor, got {pred!r}")
