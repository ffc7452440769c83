"""Coupling: what flows share whose change of one part depends on another part."""

import numpy as np
import tensorflow as tf

from bayes_rl.layers.reversible.base import ReversibleLayer
from bayes_rl.random_variable import RandomVariable


class Coupling(ReversibleLayer, tf.keras.layers.Layer):
    """Changes each element of its input by parameters that a network makes of others.

    With a mask the network sees the elements where it is 1, and the others change:

        y = where(mask, x, change(x, network(mask * x)))

    Both directions are then one pass. Without a mask the network is autoregressive and sees
    the *outputs* before each position, so `reverse` is one pass, which is what `log_prob`
    needs, and `call` as many as there are positions:

        y[k] = change(x[k], network(y)[k]),  network(y)[k] a function of y[1..k-1]

    `Reverse` swaps these costs. A network with random weights must be held (`hold`), for
    each pass would draw its own.

    Source: Dinh et al., 2017, Density Estimation Using Real NVP, section 3.2; without mask
    Papamakarios et al., 2017, Masked Autoregressive Flow, section 3.1.

    Subclasses give `_parameters`, `_change`, `_change_back` and `_log_change_back`.

    Args:
        layer: the network.
        mask: [*positions] of 0 and 1, or None for an autoregressive network.
        position_ndims: number of axes of a position: 0 if it is one number.
        event_ndims: number of axes that it mixes.
        **kwargs: of `tf.keras.layers.Layer`.
    """

    def __init__(self, layer, mask, position_ndims, event_ndims, **kwargs):
        super().__init__(**kwargs)
        is_module = isinstance(layer, tf.Module)
        self.layer = layer if is_module else tf.keras.layers.Lambda(layer)
        self.mask = None if mask is None else np.asarray(mask).astype(bool)
        self.event_ndims = event_ndims
        self._position_ndims = position_ndims

    def __call__(self, inputs, *args, **kwargs):
        # Building on a value would go through the positions one by one.
        if isinstance(inputs, RandomVariable) and not self.built:
            self.build(inputs.shape)
        return super().__call__(inputs, *args, **kwargs)

    def build(self, input_shape):
        if not self.layer.built:
            event = tf.TensorShape(input_shape)[-self.event_ndims :]
            self.layer(tf.zeros([1] + event, self.compute_dtype))
        super().build(input_shape)

    def _built_on(self, outputs):
        outputs = tf.convert_to_tensor(outputs)
        if not self.built:
            self.build(outputs.shape)
        return outputs

    def call(self, inputs):
        if self.mask is None:
            return self._call_in_order(inputs)
        return tf.where(self._kept(), inputs, self._change(inputs, self._seen(inputs)))

    def reverse(self, outputs):
        """Inputs [..., *event] for which `call` gives these outputs [..., *event]."""
        outputs = self._built_on(outputs)
        inputs = self._change_back(outputs, self._seen(outputs))
        return inputs if self.mask is None else tf.where(self._kept(), outputs, inputs)

    def log_det_jacobian(self, outputs):
        """Gives log |dx/dy| at the outputs [..., *event]: [...]."""
        outputs = self._built_on(outputs)
        change = self._log_change_back(outputs, self._seen(outputs))
        if self.mask is not None:
            change = tf.where(self._kept(), tf.zeros_like(change), change)
        return tf.reduce_sum(change, tf.range(-self.event_ndims, 0))

    def _seen(self, tensor):
        """Parameters that the network makes of what it sees."""
        seen = tensor if self.mask is None else tensor * tf.cast(self._kept(), tensor.dtype)
        return self._parameters(self.layer(seen), tensor)

    def _kept(self):
        return self.mask.reshape(*self.mask.shape, *[1] * self._position_ndims)

    def _call_in_order(self, inputs):
        length = inputs.shape[-self.event_ndims]
        if hasattr(self.layer, "input_degrees"):
            degrees = self.layer.input_degrees(length)
        else:
            degrees = np.arange(1, length + 1)
        degrees = np.reshape(degrees, [length] + [1] * (self.event_ndims - 1))

        def settle(step, outputs):
            changed = self._change(inputs, self._seen(outputs))
            # Later positions stay 0: garbage there could overflow, and 0 * inf is NaN.
            return step + 1, tf.where(degrees == step, changed, outputs)

        _, outputs = tf.while_loop(
            lambda step, _: step <= length,
            settle,
            (tf.constant(1, degrees.dtype), tf.zeros_like(inputs)),
            maximum_iterations=length,
        )
        return outputs
