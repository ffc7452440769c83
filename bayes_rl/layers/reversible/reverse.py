"""Reverse: a reversible layer the other way round."""

import tensorflow as tf

from bayes_rl.layers.reversible.base import ReversibleLayer
from bayes_rl.serialization import register


@register
class Reverse(ReversibleLayer, tf.keras.layers.Layer):
    """Swaps `call` and `reverse` of a layer.

        call(x) = layer.reverse(x),  reverse(y) = layer(y)
        log |dx/dy| at y = -layer.log_det_jacobian(layer(y))

    A layer without `reverse` is no error before it is needed.

    Source: Tran et al., 2019, Bayesian Layers: A Module for Neural Network Uncertainty,
    section 2.4.

    Args:
        reversible_layer: layer with `reverse` and, for densities, `log_det_jacobian`.
        **kwargs: of `tf.keras.layers.Layer`.

    Raises:
        NotImplementedError: the call, when the layer has no `reverse`.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> flow = ed.layers.RealNVP(tf.keras.layers.Dense(4), mask=[1, 0])
        >>> x = tf.ones([5, 2])
        >>> bool(tf.reduce_all(abs(ed.layers.Reverse(flow)(flow(x)) - x) < 1e-6))
        True
    """

    def __init__(self, reversible_layer, **kwargs):
        super().__init__(**kwargs)
        self.reversible_layer = reversible_layer

    @property
    def event_ndims(self):
        """Number of axes that the layer mixes."""
        return getattr(self.reversible_layer, "event_ndims", 0)

    @property
    def is_constant_jacobian(self):
        """Whether the Jacobian is the same everywhere."""
        return getattr(self.reversible_layer, "is_constant_jacobian", False)

    def build(self, input_shape):
        if not self.reversible_layer.built:
            self.reversible_layer.build(input_shape)
        super().build(input_shape)

    def call(self, inputs):
        return self._method("reverse")(inputs)

    def reverse(self, outputs):
        """Inputs for which `call` gives these outputs: what the layer makes of them."""
        return self.reversible_layer(tf.convert_to_tensor(outputs))

    def log_det_jacobian(self, outputs):
        """Gives log |dx/dy| at the outputs."""
        inputs = self.reverse(outputs)
        return -self._method("log_det_jacobian")(inputs)

    def _method(self, name):
        method = getattr(self.reversible_layer, name, None)
        if method is None:
            layer = self.reversible_layer
            raise NotImplementedError(
                f"{type(layer).__name__} layer {layer.name!r} has no {name}, so "
                f"{self.name!r} cannot reverse it"
            )
        return method
