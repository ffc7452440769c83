"""Vectors of each example, beside tensors that may have a leading axis of draws."""

import tensorflow as tf

from bayes_rl.layers import products
from bayes_rl.layers.base import StochasticLayer


class ExampleVectors(StochasticLayer):
    """Mixin, left of a layer with a `layout`: meets vectors of examples with tensors."""

    def has_draws(self, tensor):
        """Whether inputs or outputs are [S, B, ...], as S draws are held.

        Raises:
            ValueError: their leading axis is another number than that of the draws.
        """
        draws = self.held_draws()
        if not draws or tensor.shape.rank <= self.layout.rank + 2:
            return False
        products.check_draws(tensor, tf.get_static_value(draws[0]))
        return True

    @tf.autograph.experimental.do_not_convert
    def align(self, vectors, tensor):
        """Adds axes to vectors for space and, if need be, for draws.

        Args:
            vectors: [B, channels] or [S, B, channels].
            tensor: inputs or outputs of the layer.

        Returns:
            Tensor that broadcasts against `tensor`.
        """
        if vectors.shape.rank == 2 and self.has_draws(tensor):
            vectors = vectors[tf.newaxis]
        return products.align(vectors, tensor, self.layout)
