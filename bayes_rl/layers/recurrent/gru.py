"""GRU cells with a posterior over their kernels."""

import tensorflow as tf

from bayes_rl.layers import products
from bayes_rl.layers.base import StochasticLayer, takes
from bayes_rl.layers.recurrent.cells import FlipoutCell, StochasticCell, masked, project
from bayes_rl.serialization import register


@register
@takes(
    tf.keras.layers.GRUCell,
    kernel_initializer="trainable_glorot_normal",
    recurrent_initializer="trainable_glorot_normal",
    kernel_regularizer="normal_kl_divergence",
    recurrent_regularizer="normal_kl_divergence",
    after_reset_after={"implementation": 2},
)
class GRUCellReparameterization(StochasticCell, StochasticLayer, tf.keras.layers.GRUCell):
    """GRU cell that draws its kernels from their posterior once a sequence.

        kernel W, recurrent_kernel U ~ posterior, constant in time
        z, r = sigmoid(x W[zr] + h U[zr] + b[zr])
        c = tanh(x W[c] + b[c] + r * (h U[c] + recurrent b[c]))
        h' = z * h + (1 - z) * c

    and (r * h) U[c] without a recurrent bias where not `reset_after`. The whole batch
    shares the draw. A sequence is one call of `tf.keras.layers.RNN(cell)`, or begins with
    `get_initial_state`; see `bayes_rl.layers.recurrent.sequences`. Held weights
    (`bayes_rl.hold`) take the draw's place; with S of them, inputs [S, B, features] and
    states [S, B, units] go through S functions.

    Source: Cho et al., 2014, Learning Phrase Representations using RNN Encoder-Decoder,
    equations 5 to 8; Fortunato et al., 2017, Bayesian Recurrent Neural Networks, section 3.

    Args:
        units: as in `LSTMCellReparameterization`; likewise all that are not named here.
        activation: of the candidate.
        kernel_initializer: posterior over the kernel, [features, 3 * units].
        recurrent_initializer: likewise for the recurrent kernel, [units, 3 * units].
        bias_initializer: likewise for the bias, [2, 3 * units] or, where not
            `reset_after`, [3 * units]; deterministic by default.
        reset_after: whether the reset gate acts after the product with the state.
        **kwargs: of `tf.keras.layers.GRUCell`.

    Raises:
        ValueError: `units` is below 1, or an initializer or regularizer is unknown.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> cell = ed.layers.GRUCellReparameterization(4, name="gru")
        >>> tf.keras.layers.RNN(cell)(tf.ones([2, 5, 3])).shape
        TensorShape([2, 4])
        >>> state = cell.get_initial_state(tf.ones([2, 5, 3]))
        >>> output, state = cell(tf.ones([2, 3]), state)
        >>> sorted(ed.posteriors(cell))
        ['gru/kernel', 'gru/recurrent_kernel']
    """

    num_gates = 3

    def call(self, inputs, states, training=None):
        is_nested = tf.nest.is_nested(states)
        state = tf.convert_to_tensor(states[0] if is_nested else states)
        parameters, masks = self.parameters(inputs, state, training)
        terms, recurrent_terms, bias, recurrent_bias = parameters
        states = masked(state, masks[1])
        from_inputs = _with_bias(project((masked(inputs, masks[0]), terms)), bias)
        from_inputs, candidate = self._split(from_inputs)
        if self.reset_after:
            from_state = _with_bias(project((states, recurrent_terms)), recurrent_bias)
            from_state, from_reset = self._split(from_state)
            update, reset = self._gates(from_inputs + from_state)
            candidate += reset * from_reset
        else:
            gates, inner = recurrent_terms
            update, reset = self._gates(from_inputs + project((states[:2], gates)))
            candidate += project(([reset * states[-1]], inner))
        state = update * state + (1.0 - update) * self.activation(candidate)
        return state, [state] if is_nested else state

    def _split(self, sums):
        """The parts of both gates and of the candidate."""
        return tf.split(sums, [2 * self.units, self.units], axis=-1)

    def _gates(self, sums):
        return tf.split(self.recurrent_activation(sums), 2, axis=-1)

    def make_parameters(self, batch_size):
        """Terms of each kernel, and the biases of each product."""
        terms, recurrent = self.make_terms(batch_size)
        bias = self.draw("bias") if self.use_bias else None
        if not self.reset_after:
            parts = (0, 2 * self.units), (2 * self.units, 3 * self.units)
            recurrent = [[term.columns(*part) for term in recurrent] for part in parts]
            return terms, recurrent, bias, None
        if bias is None:
            return terms, recurrent, None, None
        return terms, recurrent, *tf.unstack(bias, axis=-2)


def _with_bias(sums, bias):
    return sums if bias is None else products.add_bias(sums, bias)


@register
class GRUCellFlipout(FlipoutCell, GRUCellReparameterization):
    """GRU cell that perturbs its kernels for each example by random signs.

    One perturbation of the kernels for the batch, and signs of each example, are drawn once
    a sequence and constant in time. Each example's kernels are distributed as the
    posterior, as long as that is symmetric about its mean, and those of different examples
    are uncorrelated: gradients vary less than with `GRUCellReparameterization`.

    Where kernels are held with their signs, [B, ...] or [S, B, ...], example b uses signs
    b at every step; without signs all examples use the kernels as they are.

    Source: Wen et al., 2018, Flipout, equation 4.

    Args and errors: as in `GRUCellReparameterization`.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> cell = ed.layers.GRUCellFlipout(4)
        >>> tf.keras.layers.RNN(cell)(tf.ones([2, 5, 3])).shape
        TensorShape([2, 4])
    """
