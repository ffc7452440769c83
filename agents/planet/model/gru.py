"""A GRU cell for loops: what no step changes is computed before the first."""

import tensorflow as tf

from bayes_rl.numerics.fused import fused


class GRUCell(tf.keras.layers.GRUCell):
    """PlaNet's GRU, with the variables of the Keras cell.

        z, r = sigmoid(x W[zr] + b[zr] + h U[zr])
        c = tanh(x W[c] + b[c] + (r h) U[c])
        h' = z h + (1 - z) c

    Keras slices its kernels in every step, and the gradient of each slice is as large as
    the kernel. Gates and belief are float32 even where the products are not.

    Narrow types take one product, of [x, h] and [W; U]: it is so fast that passes over
    memory beside it count.

    Source: Cho et al., 2014, Learning Phrase Representations using RNN Encoder-Decoder,
    equations 5 to 8.

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

        It maps inputs [N, X] and belief [N, units] to the next belief, float32.
        """
        parameters = (self.kernel, self.recurrent_kernel, self.bias)
        gates, candidate = zip(*map(self._split, parameters), strict=True)
        make = _make_step if self.compute_dtype == "float32" else self._make_narrow_step
        return make(gates, candidate)

    def _make_narrow_step(self, gates, candidate):
        (*of_gates, gate_bias), (*of_candidate, bias) = gates, candidate
        gate_kernel, kernel = (tf.concat(x, 0) for x in (of_gates, of_candidate))

        def step(inputs, belief):
            gates = self._product(inputs, belief, gate_kernel)
            update, kept = _update_and_kept(gates, gate_bias, belief)
            return _blend(self._product(inputs, kept, kernel), bias, update, belief)

        return step

    def _product(self, inputs, belief, kernel):
        # Cast in each step, not before: so gradients of the steps add up in float32.
        both = (tf.cast(tensor, self.compute_dtype) for tensor in (inputs, belief))
        return tf.matmul(tf.concat([*both], -1), tf.cast(kernel, self.compute_dtype))

    def _split(self, parameter):
        """The parts of the two gates and of the candidate."""
        return tf.split(tf.convert_to_tensor(parameter), [2 * self.units, self.units], -1)


def _make_step(gates, candidate):
    def step(inputs, belief):
        both = tf.sigmoid(_sum(inputs, belief, *gates))
        update, reset = tf.split(both, 2, axis=-1)
        new = tf.tanh(_sum(inputs, reset * belief, *candidate))
        return update * belief + (1.0 - update) * new

    return step


def _sum(inputs, belief, kernel, recurrent_kernel, bias):
    from_inputs = tf.nn.bias_add(tf.matmul(inputs, kernel), bias)
    return from_inputs + tf.matmul(belief, recurrent_kernel)


@fused
def _update_and_kept(product, bias, belief):
    """The update gate, and r h in the type of products."""
    gates = tf.sigmoid(tf.cast(product, tf.float32) + bias)
    update, reset = tf.split(gates, 2, axis=-1)
    return update, tf.cast(reset * belief, product.dtype)


@fused
def _blend(product, bias, update, belief):
    """The next belief."""
    new = tf.tanh(tf.cast(product, tf.float32) + bias)
    return update * belief + (1.0 - update) * new


def _gate_bias(shape, dtype=None):
    """Ones for the update and reset gates, zeros for the candidate: memory by default."""
    gates, candidate = 2 * shape[-1] // 3, shape[-1] // 3
    return tf.concat([tf.ones([gates], dtype), tf.zeros([candidate], dtype)], 0)
