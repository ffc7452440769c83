"""Couplings: RealNVP and NICE, which change one part by what a network makes of another."""

import numpy as np
import tensorflow as tf

from bayes_rl.layers.reversible.base import ReversibleLayer
from bayes_rl.random_variables.random_variable import RandomVariable
from bayes_rl.serialization import register


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
        self._check_mask(tf.TensorShape(input_shape))
        if not self.layer.built:
            event = self._known_event(tf.TensorShape(input_shape))
            self.layer(tf.zeros([1] + event, self.compute_dtype))
        super().build(input_shape)

    def _check_mask(self, shape):
        if self.mask is None:
            return
        positions = shape[-self.event_ndims :][: self.mask.ndim]
        if shape.rank < self.event_ndims or not positions.is_compatible_with(
            self.mask.shape
        ):
            raise ValueError(
                f"mask of {type(self).__name__} {self.name!r} has shape "
                f"{list(self.mask.shape)}, which is not that of one of the inputs {shape}"
            )

    def _known_event(self, shape):
        event = shape[-self.event_ndims :]
        if not event.is_fully_defined():
            raise ValueError(
                f"{type(self).__name__} {self.name!r} needs a known length, got inputs of "
                f"shape {shape}"
            )
        return event

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
        outputs = self._built_on(outputs)
        inputs = self._change_back(outputs, self._seen(outputs))
        return inputs if self.mask is None else tf.where(self._kept(), outputs, inputs)

    def log_det_jacobian(self, outputs):
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
        length = self._known_event(inputs.shape)[0]
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


class _Affine(Coupling):
    """Coupling of real vectors; see `RealNVP`."""

    def __init__(self, layer, mask=None, **kwargs):
        if mask is None and not hasattr(layer, "input_degrees"):
            raise ValueError(
                f"{type(self).__name__} without a mask needs an autoregressive network, "
                f"one with input_degrees such as MADE; got {type(layer).__name__}: give "
                "it a mask"
            )
        event_ndims = layer.event_ndims if mask is None else np.ndim(mask)
        super().__init__(layer, mask, position_ndims=0, event_ndims=event_ndims, **kwargs)


@register
class RealNVP(_Affine):
    """Scales and shifts part of its input by what a network makes of another part.

        y = x * exp(log_scale) + shift,  log |dx/dy| = -sum(log_scale)
        shift, s = network(other part),  log_scale = rescale * tanh(s)

    `rescale` is trained, one number for each index of the last axis. At its start of 0 the
    flow only shifts; a stack that starts with free scales takes exponentials of
    exponentials and overflows. The network gives [..., *event, 2], or twice as many units
    on the last axis: shifts, then s. Without a mask it is autoregressive, and the flow a
    masked autoregressive flow: density in one pass, sampling in one pass a position.

    Source: Dinh et al., 2017, Density Estimation Using Real NVP, equations 4 to 8, and
    section 4.1 for the hyperbolic tangent; without mask Papamakarios et al., 2017, Masked
    Autoregressive Flow, equations 3 and 4.

    Args:
        layer: the network, a Keras layer or model.
        mask: [*event] of 0 and 1; elements where it is 1 are what the network sees, and
            stay as they are. None for an autoregressive network, such as `MADE`.
        rescale_initializer: of `rescale`.
        **kwargs: of `tf.keras.layers.Layer`.

    Raises:
        ValueError: there is neither a mask nor an autoregressive network, or the network's
            outputs have another shape.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> flow = ed.layers.RealNVP(ed.layers.MADE(hidden_dims=[8]))
        >>> outputs = flow(ed.Normal(tf.zeros([5, 3]), 1.0))
        >>> outputs.log_prob(tf.ones([5, 3])).shape
        TensorShape([5])
    """

    def __init__(self, layer, mask=None, rescale_initializer="zeros", **kwargs):
        super().__init__(layer, mask, **kwargs)
        self.rescale_initializer = tf.keras.initializers.get(rescale_initializer)

    def build(self, input_shape):
        super().build(input_shape)
        self.rescale = self.add_weight(
            "rescale",
            tf.TensorShape(input_shape)[-1:],
            initializer=self.rescale_initializer,
            experimental_autocast=False,
        )

    def _parameters(self, network_outputs, tensor):
        outputs = tf.cast(network_outputs, tensor.dtype)
        last, rank = outputs.shape[-1], outputs.shape.rank
        if rank == tensor.shape.rank + 1 and last == 2:
            shift, s = tf.unstack(outputs, axis=-1)
        elif rank == tensor.shape.rank and last == 2 * tensor.shape[-1]:
            shift, s = tf.split(outputs, 2, axis=-1)
        else:
            raise ValueError(
                f"network of {self.name!r} must give a shift and a log scale for each of "
                f"{tensor.shape}, got {outputs.shape}"
            )
        return shift, tf.cast(self.rescale, tensor.dtype) * tf.tanh(s)

    def _change(self, inputs, parameters):
        shift, log_scale = parameters
        return inputs * tf.exp(log_scale) + shift

    def _change_back(self, outputs, parameters):
        shift, log_scale = parameters
        return (outputs - shift) * tf.exp(-log_scale)

    def _log_change_back(self, outputs, parameters):
        del outputs
        return -parameters[1]


@register
class NICE(_Affine):
    """Shifts part of its input by what a network makes of another part.

        y = x + shift,  shift = network(other part),  log |dx/dy| = 0

    Source: Dinh et al., 2014, NICE: Non-linear Independent Components Estimation,
    section 3.2.

    Args:
        layer: the network; it gives the shape of the inputs, or one more axis of size 1 as
            `MADE(hidden_dims=..., params=1)` does.
        mask: as in `RealNVP`.
        **kwargs: of `tf.keras.layers.Layer`.

    Raises:
        ValueError: as in `RealNVP`.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> flow = ed.layers.NICE(tf.keras.layers.Dense(2), mask=[1, 0])
        >>> flow.reverse(flow(tf.ones([5, 2]))).shape
        TensorShape([5, 2])
    """

    def _parameters(self, network_outputs, tensor):
        shift = tf.cast(network_outputs, tensor.dtype)
        if shift.shape.rank == tensor.shape.rank + 1 and shift.shape[-1] == 1:
            return shift[..., 0]
        if not shift.shape.is_compatible_with(tensor.shape):
            raise ValueError(
                f"network of {self.name!r} must give a shift for each of {tensor.shape}, "
                f"got {shift.shape}"
            )
        return shift

    def _change(self, inputs, parameters):
        return inputs + parameters

    def _change_back(self, outputs, parameters):
        return outputs - parameters

    def _log_change_back(self, outputs, parameters):
        del parameters
        return tf.zeros_like(outputs)
