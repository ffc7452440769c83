"""MADE: a dense network whose outputs depend on the inputs before them only."""

import random

import numpy as np
import tensorflow as tf

from bayes_rl.layers import products
from bayes_rl.layers.reversible.masks import create_degrees, create_masks
from bayes_rl.serialization import register


@register
class MADE(tf.keras.Model):
    """Masked autoencoder: output k depends on inputs 1 to k - 1 of an order.

        hidden = activation(inputs @ (kernel * mask) + bias), for each hidden layer
        outputs = hidden @ (kernel * mask) + bias

    Masks multiply kernels at every call, so the network stays autoregressive whatever is
    assigned to its variables. There are two forms:

    - `MADE(units, hidden_dims)` on [..., length, channels] gives [..., length, units];
      position k depends on all channels of the positions before it;
    - `MADE(hidden_dims=...)` on flat [..., size] gives [..., size, params].

    Source: Germain et al., 2015, MADE: Masked Autoencoder for Distribution Estimation,
    section 3; the forms are those of Edward2 and of Tran et al., 2019, figure 8.

    Args:
        units: size of the last axis of the outputs; None for flat inputs.
        hidden_dims: list of numbers of hidden units.
        input_order: "left-to-right", "right-to-left", "random", or a permutation of 1 to
            length: the degree of each position.
        hidden_order: "left-to-right" or "random".
        activation: of hidden layers, as in `tf.keras.layers.Dense`.
        use_bias: whether layers have a bias.
        order: another name of `input_order`.
        params: numbers for each flat input; 2 are a shift and a log scale.
        seed: int, of random orders; drawn where it is None, and kept in the configuration.
        **kwargs: of `tf.keras.Model`.

    Raises:
        ValueError: `hidden_dims` is missing or no list, `input_order` and `order` differ,
            or the length of the inputs is not known.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> made = ed.layers.MADE(hidden_dims=[8], order="right-to-left")
        >>> made(tf.ones([5, 3])).shape
        TensorShape([5, 3, 2])
        >>> ed.layers.MADE(4, [8])(tf.ones([5, 3, 2])).shape
        TensorShape([5, 3, 4])
    """

    def __init__(
        self,
        units=None,
        hidden_dims=None,
        input_order="left-to-right",
        hidden_order="left-to-right",
        activation=None,
        use_bias=True,
        order=None,
        params=2,
        seed=None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        if np.ndim(hidden_dims) != 1:
            raise ValueError(
                f"hidden_dims must be a list of numbers of units, got {hidden_dims}"
            )
        if order is not None and input_order not in ("left-to-right", order):
            raise ValueError(
                f"order is another name of input_order, got {order!r} and {input_order!r}"
            )
        self.units = None if units is None else int(units)
        self.hidden_dims = [int(size) for size in hidden_dims]
        chosen = input_order if order is None else order
        self.input_order = (
            chosen if isinstance(chosen, str) else np.asarray(chosen).tolist()
        )
        self.hidden_order = hidden_order
        self.activation = tf.keras.activations.get(activation)
        self.use_bias = use_bias
        self.params = params
        # Copies and saved models must have the same masks.
        self.seed = random.randrange(2**31) if seed is None else seed

    @property
    def event_ndims(self):
        """Number of axes over which it is autoregressive, or mixes: 1 flat, else 2."""
        return 1 if self.units is None else 2

    def input_degrees(self, length):
        """Place of each position in the order, 1 to `length`: [length]."""
        return self._of_length(create_degrees, length)[0]

    def _of_length(self, create, length):
        orders = self.input_order, self.hidden_order
        return create(length, self.hidden_dims, *orders, seed=self.seed)

    def build(self, input_shape):
        event = tf.TensorShape(input_shape)[-self.event_ndims :].as_list()
        if None in event or len(event) < self.event_ndims:
            wanted = "size" if self.units is None else "length, channels"
            raise ValueError(f"inputs must be [..., {wanted}] of known size, got {event}")
        length, channels = event if self.units is not None else (event[0], 1)
        with tf.init_scope():
            masks = [mask.numpy() for mask in self._of_length(create_masks, length)]
        masks[0] = np.repeat(masks[0], channels, axis=0)
        masks[-1] = np.repeat(masks[-1], self.units or self.params, axis=1)
        with tf.init_scope():  # a graph captures tensors, but copies arrays into itself
            self._kernel_masks = [tf.constant(mask) for mask in masks]
        self._kernels = [
            self.add_weight(f"kernel_{index}", mask.shape, initializer="glorot_normal")
            for index, mask in enumerate(masks)
        ]
        self._biases = [
            self.add_weight(f"bias_{index}", mask.shape[1:], initializer="zeros")
            for index, mask in enumerate(masks)
            if self.use_bias
        ]
        tf.keras.layers.Layer.build(self, input_shape)  # Model's would call the network

    def call(self, inputs):
        shape = products.sizes(inputs)
        leading = shape[: len(shape) - self.event_ndims]
        size = self._kernel_masks[0].shape[0]
        outputs = inputs if self.units is None else tf.reshape(inputs, [*leading, size])
        last = len(self._kernels) - 1
        for index, mask in enumerate(self._kernel_masks):
            kernel = self._kernels[index] * tf.cast(mask, self.compute_dtype)
            outputs = products.dense(outputs, kernel)
            if self.use_bias:
                outputs += self._biases[index]
            if index < last:
                outputs = self.activation(outputs)
        return tf.reshape(
            outputs, [*leading, shape[-self.event_ndims], self.units or self.params]
        )

    def compute_output_shape(self, input_shape):
        """Shape [..., length, units] or [..., size, params]."""
        shape = tf.TensorShape(input_shape)
        if self.units is None:
            return shape + [self.params]
        return shape[:-1] + [self.units]
