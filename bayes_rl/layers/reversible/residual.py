"""Reversible residual block."""

import tensorflow as tf

from bayes_rl.layers.reversible.base import ReversibleLayer
from bayes_rl.serialization import register


@register
class ReversibleResidual(ReversibleLayer, tf.keras.layers.Layer):
    """Residual block that can be run backwards.

        x1, x2 = halves of x along the last axis
        y1 = x1 + f(x2),  y2 = x2 + g(y1),  log |dx/dy| = 0

    Densities take all axes but the first of the inputs it is built on as one event. A
    chain of them in a `ReversibleSequential` needs no memory for activations.

    Source: Gomez et al., 2017, The Reversible Residual Network: Backpropagation Without
    Storing Activations, equations 6 and 7.

    Args:
        f: layer or model from [..., size / 2] to the same shape; no random activations.
        g: likewise.
        **kwargs: of `tf.keras.layers.Layer`.

    Raises:
        ValueError: the last axis of the inputs is odd.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> dense = tf.keras.layers.Dense
        >>> block = ed.layers.ReversibleResidual(dense(3, "relu"), dense(3, "relu"))
        >>> x = tf.ones([5, 6])
        >>> bool(tf.reduce_all(abs(block.reverse(block(x)) - x) < 1e-5))
        True
    """

    is_constant_jacobian = True

    def __init__(self, f, g, **kwargs):
        super().__init__(**kwargs)
        self.f = f
        self.g = g

    def build(self, input_shape):
        shape = tf.TensorShape(input_shape)
        if shape[-1] % 2:
            raise ValueError(f"the last axis must be even, got inputs of shape {shape}")
        self.event_ndims = max(1, shape.rank - 1)
        half = [1 if size is None else size for size in shape[:-1]] + [shape[-1] // 2]
        for layer in (self.f, self.g):
            if not layer.built:
                layer(tf.zeros(half, self.compute_dtype))
        super().build(input_shape)

    def call(self, inputs):
        first, second = tf.split(inputs, 2, axis=-1)
        first += tf.cast(self.f(second), first.dtype)
        second += tf.cast(self.g(first), second.dtype)
        return tf.concat([first, second], axis=-1)

    def reverse(self, outputs):
        first, second = tf.split(outputs, 2, axis=-1)
        second -= tf.cast(self.g(first), second.dtype)
        first -= tf.cast(self.f(second), first.dtype)
        return tf.concat([first, second], axis=-1)

    def log_det_jacobian(self, outputs):
        """Zero, []: each half is shifted by a function of the other."""
        return tf.zeros([], tf.convert_to_tensor(outputs).dtype)

    def pull_back(self, outputs, gradient, sources=()):
        """Goes back through the block, at one evaluation of f and g.

        Source: Gomez et al., 2017, algorithm 1.

        Returns:
            The inputs, the loss's gradient with respect to them, and a list of pairs of a
            variable or source, such as a held weight, and its gradient.
        """
        first, second = tf.split(outputs, 2, axis=-1)
        d_first, d_second = tf.split(gradient, 2, axis=-1)
        change, own, g_pairs = gradients_through(self.g, first, d_second, sources)
        second -= change
        d_first += own
        change, own, f_pairs = gradients_through(self.f, second, d_first, sources)
        inputs = tf.concat([first - change, second], axis=-1)
        return inputs, tf.concat([d_first, d_second + own], axis=-1), f_pairs + g_pairs


def gradients_through(function, inputs, gradient, sources):
    """Evaluates a function of inputs, variables and sources, and goes back through it.

    Returns:
        The outputs, the loss's gradient with respect to the inputs, and a list of pairs of
        a variable or source and its gradient, without those that it does not depend on.
    """
    with tf.GradientTape() as tape:
        tape.watch([inputs, *sources])
        outputs = tf.cast(function(inputs), inputs.dtype)
    sources = [*tape.watched_variables(), *sources]
    own, *others = tape.gradient(outputs, [inputs, *sources], gradient)
    pairs = zip(sources, others, strict=True)
    own = tf.zeros_like(inputs) if own is None else own
    return outputs, own, [(source, x) for source, x in pairs if x is not None]
