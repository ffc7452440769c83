"""Flipout: one perturbation of the kernel for the batch, with signs of each example."""

import tensorflow as tf

from bayes_rl.layers import products
from bayes_rl.numerics.noise import rademacher
from bayes_rl.weights import held


class Flipout:
    """Mixin, left of a layer with a posterior over its kernel.

        kernel = mean + perturbation, one draw for the batch
        noise = product(inputs * sign_input, perturbation) * sign_output
        outputs = finish(product(inputs, mean) + noise)

    with signs -1 or 1, independent for each example and channel and constant over space.
    The layer has `kernel_key`, the name of its kernel; `product(inputs, kernel)`, linear in
    both; `finish(outputs)`, which adds the bias and applies the activation;
    `channels(shape)`, numbers of channels of inputs and outputs for the kernel's shape; and
    `layout`, a `products.Layout`.

    Source: Wen et al., 2018, Flipout: Efficient Pseudo-Independent Weight Perturbations on
    Mini-Batches, equation 4.
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

    @tf.autograph.experimental.do_not_convert
    def _flip(self, tensor, name):
        signs = held(self, f"{self.kernel_key}/{name}")
        if signs is None:
            shape = self.layout.without_space(products.sizes(tensor))
            signs = rademacher(shape, dtype=tensor.dtype)
        signs = products.align(tf.cast(signs, tensor.dtype), tensor, self.layout)
        return tensor * signs
