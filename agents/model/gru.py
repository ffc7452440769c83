"""A GRU cell for loops: what no step changes is computed before the first."""

import tensorflow as tf


class GRUCell(tf.keras.layers.GRUCell):
    """PlaNet's GRU, with the variables of the Keras cell.

        z, r = sigmoid(x W[zr] + b[zr] + h U[zr])
        c = tanh(x W[c] + b[c] + (r h) U[c])
        h' = z h + (1 - z) c

    Keras slices its kernels in every step, and the gradient of each slice is as large as
    the kernel. Gates and belief are float32 even where the products are not.

    Source: Cho et al., 2014, Learning Phrase Representations using RNN Encoder-Decoder,
    equations 5 to 8.

    Args:
        units: of the belief h.
        **kwargs: of `tf.keras.layers.Layer`.

    Example:
        >>> cell = GRUCell(4)
        >>> cell.build([None, 3])
        >>> cell.make_step()(tf.ones([2, 3]), tf.zeros([2, 4])).shape
        TensorShape([2, 4])
    """

    def __init__(self, units, **kwargs):
        super().__init__(units, reset_after=False, bias_initializer=_gate_bias, **kwargs)

    def make_step(self):
        """The function of one step, to be made before the loop; the cell must be built.

        Returns:
            A function of inputs [N, X] and belief [N, units] that returns the next belief
            [N, units], float32.
        """
        parameters = (self.kernel, self.recurrent_kernel, self.bias)
        gates, candidate = zip(*map(self._split, parameters), strict=True)

        def step(inputs, belief):
            both = tf.sigmoid(self._sum(inputs, belief, *gates))
            update, reset = tf.split(both, 2, axis=-1)
            new = tf.tanh(self._sum(inputs, reset * belief, *candidate))
            return update * belief + (1.0 - update) * new

        return step

    def _split(self, parameter):
        """The parts of the two gates and of the candidate."""
        return tf.split(tf.convert_to_tensor(parameter), [2 * self.units, self.units], -1)

    def _sum(self, inputs, belief, *parameters):
        # Cast in each step, not before: so gradients of the steps add up in float32.
        inputs, belief, kernel, recurrent_kernel, bias = (
            tf.cast(tensor, self.compute_dtype) for tensor in (inputs, belief, *parameters)
        )
        from_inputs = tf.nn.bias_add(tf.matmul(inputs, kernel), bias)
        from_belief = tf.matmul(belief, recurrent_kernel)
        return tf.cast(from_inputs, tf.float32) + tf.cast(from_belief, tf.float32)


def _gate_bias(shape, dtype=None):
    """Ones for the update and reset gates, zeros for the candidate: memory by default."""
    gates, candidate = 2 * shape[-1] // 3, shape[-1] // 3
    return tf.concat([tf.ones([gates], dtype), tf.zeros([candidate], dtype)], 0)
