"""Flipout: one perturbation of the kernel for the batch, with signs of each example."""

import tensorflow as tf

from bayes_rl.layers import products
from bayes_rl.numerics.noise import rademacher
from bayes_rl.weights import SignsOfSeed, held


class Flipout:
    """Mixin, left of a layer with a posterior over its kernel.

        kernel = mean + perturbation, one draw for the batch
        noise = product(inputs * sign_input, perturbation) * sign_output
        outputs = finish(product(inputs, mean) + noise)

    with signs -1 or 1, independent for each example and channel and constant over space. A
    tape records the draw before the signs, which is the kernel of no single example.
    The layer has `kernel_key`, the name of its kernel; `product(inputs, kernel)`, linear in
    both; `finish(outputs)`, which adds the bias and applies the activation;
    `channels(shape)`, numbers of channels of inputs and outputs for the kernel's shape; and
    `layout`, a `products.Layout`.

    Source: Wen et al., 2018, Flipout, equation 4.
    """

    def sign_sizes(self):
        if self.kernel_key not in self.stochastic_weights:
            return {}
        inputs, outputs = self.channels(self.stochastic_weights[self.kernel_key].shape)
        key = self.kernel_key
        return {f"{key}/sign_input": inputs, f"{key}/sign_output": outputs}

    def call(self, inputs):
        if self.kernel_key not in self.stochastic_weights:
            return super().call(inputs)
        mean, perturbation = self.draw_perturbation(self.kernel_key)
        inputs = tf.cast(inputs, mean.dtype)
        outputs = self.product(inputs, mean)
        if perturbation is not None:
            noise = self.product(self._flip(inputs, "sign_input"), perturbation)
            outputs += self._flip(noise, "sign_output")
        return self.finish(outputs)

    def _flip(self, tensor, name):
        key = f"{self.kernel_key}/{name}"
        shape = self.layout.without_space(products.sizes(tensor))
        signs = held_signs(self, key, rows=shape[0])
        if signs is None:
            signs = rademacher(shape, dtype=tensor.dtype)
        else:
            check_signs(key, signs, self.layout.without_space(tensor.shape.as_list()))
        signs = products.align(tf.cast(signs, tensor.dtype), tensor, self.layout)
        return tensor * signs


def held_signs(layer, key, rows):
    """Held signs [B, channels] or [S, B, channels] of so many rows of inputs, or None."""
    signs = held(layer, key)
    return signs(rows) if isinstance(signs, SignsOfSeed) else signs


def check_signs(name, signs, shape):
    """Checks that held signs are those of as many examples and draws as there are.

    `shape` is that of what they flip, [B, ..., channels] or [S, B, ..., channels].

    Raises:
        ValueError: they are of another number.
    """
    *batch, channels = shape
    leading = signs.shape.rank - 1
    # Without an axis of draws it is given whole to each.
    expected = [None] * (leading - len(batch)) + batch[:leading] + [channels]
    if not signs.shape.is_compatible_with(expected):
        raise ValueError(
            f"held signs {name!r} must have shape {expected}, got {signs.shape}: a row for "
            "each row of the layer's own inputs; weights that are drawn without batch_size "
            "have no signs, and ed.OneDraw draws as many as there are rows"
        )
