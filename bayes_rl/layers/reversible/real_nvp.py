"""RealNVP and NICE: flows that scale and shift by what a network makes of other parts."""

import numpy as np
import tensorflow as tf

from bayes_rl.layers.reversible.coupling import Coupling
from bayes_rl.serialization import register


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
        self.rescale = self.add_weight(
            "rescale",
            tf.TensorShape(input_shape)[-1:],
            initializer=self.rescale_initializer,
            experimental_autocast=False,
        )
        super().build(input_shape)

    def _parameters(self, network_outputs, tensor):
        shift, s = self._split(tf.cast(network_outputs, tensor.dtype), tensor)
        return shift, tf.cast(self.rescale, tensor.dtype) * tf.tanh(s)

    def _split(self, network_outputs, tensor):
        last, rank = network_outputs.shape[-1], network_outputs.shape.rank
        if rank == tensor.shape.rank + 1 and last == 2:
            return tf.unstack(network_outputs, axis=-1)
        if rank == tensor.shape.rank and last == 2 * tensor.shape[-1]:
            return tf.split(network_outputs, 2, axis=-1)
        raise ValueError(
            f"network of {self.name!r} must give a shift and a log scale for each of "
            f"{tensor.shape}, got {network_outputs.shape}"
        )

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
