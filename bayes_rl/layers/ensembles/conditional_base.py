"""What dense and convolutional mixtures of experts share."""

import math

import tensorflow as tf

from bayes_rl import initializers
from bayes_rl.layers.ensembles.example_vectors import ExampleVectors


class Conditional(ExampleVectors):
    """Mixin, left of a layer with a kernel: kernels and biases of experts.

    Weights are [num_experts, size of the expert's weight], each expert's drawn as one of
    its own. A subclass gives `mixture(inputs, routing_weights)`, the product with the mixed
    kernel.

    Args:
        num_experts: number of experts, at least 1.
        **kwargs: of the layer.
    """

    def __init__(self, *, num_experts, **kwargs):
        if num_experts < 1:
            raise ValueError(f"num_experts must be at least 1, got {num_experts}")
        super().__init__(**kwargs)
        self.num_experts = num_experts
        self._expert_shapes = {}

    def add_weight(self, name=None, shape=None, **kwargs):
        """As in `StochasticLayer`, with a row for each expert."""
        shape = tuple(tf.TensorShape(shape).as_list())
        self._expert_shapes[name] = shape
        initializer = initializers.get(kwargs.pop("initializer"))
        if not isinstance(initializer, tf.keras.layers.Layer):
            initializer = initializers.get_condconv_initializer(
                initializer, self.num_experts, shape
            )
        rows = [self.num_experts, math.prod(shape)]
        return super().add_weight(name, rows, initializer=initializer, **kwargs)

    def call(self, inputs, routing_weights):
        routing_weights = tf.cast(routing_weights, self.compute_dtype)
        self._check(routing_weights)
        outputs = self.mixture(inputs, routing_weights)
        if self.use_bias:
            bias = tf.matmul(routing_weights, self.draw("bias"))
            outputs += self.align(bias, outputs)
        return outputs if self.activation is None else self.activation(outputs)

    def _check(self, routing_weights):
        if not routing_weights.shape[-1:].is_compatible_with([self.num_experts]):
            raise ValueError(
                f"routing_weights must have shape [..., {self.num_experts}], a column for "
                f"each expert, got {routing_weights.shape}"
            )

    def mixture(self, inputs, routing_weights):
        """Product of each example with its mixed kernel.

        Args:
            inputs: [..., B, *space, channels].
            routing_weights: [..., B, num_experts].

        Returns:
            [..., B, *space, channels].
        """
        raise NotImplementedError

    def get_config(self):
        return {**super().get_config(), "num_experts": self.num_experts}
