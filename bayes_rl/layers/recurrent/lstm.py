"""LSTM cells with a posterior over their kernels."""

import tensorflow as tf

from bayes_rl.layers import products
from bayes_rl.layers.base import StochasticLayer, takes
from bayes_rl.layers.recurrent.cells import FlipoutCell, StochasticCell, masked, project
from bayes_rl.serialization import register


@register
@takes(
    tf.keras.layers.LSTMCell,
    kernel_initializer="trainable_glorot_normal",
    recurrent_initializer="trainable_glorot_normal",
    kernel_regularizer="normal_kl_divergence",
    recurrent_regularizer="normal_kl_divergence",
    after_recurrent_dropout={"implementation": 2},
)
class LSTMCellReparameterization(StochasticCell, StochasticLayer, tf.keras.layers.LSTMCell):
    """LSTM cell that draws its kernels from their posterior once a sequence.

        kernel, recurrent_kernel ~ posterior, constant in time
        i, f, c, o = split(x @ kernel + h @ recurrent_kernel + bias)
        carry' = sigmoid(f) * carry + sigmoid(i) * tanh(c)
        h' = sigmoid(o) * tanh(carry')

    The whole batch shares the draw. A sequence is one call of `tf.keras.layers.RNN(cell)`,
    or begins with `get_initial_state`; see `bayes_rl.layers.recurrent.sequences`. Held
    weights (`bayes_rl.hold`) take the draw's place; with S of them, inputs
    [S, B, features] and states [S, B, units] go through S functions.

    Source: Fortunato et al., 2017, Bayesian Recurrent Neural Networks, section 3.

    Args:
        units: size of state and output, at least 1.
        activation: of the candidate and of the carry on its way out.
        recurrent_activation: of the gates.
        use_bias: whether to add a bias.
        kernel_initializer: posterior over the kernel [features, 4 * units]; an ordinary
            initializer makes it deterministic, and its KL becomes -log prior.
        recurrent_initializer: likewise for the recurrent kernel [units, 4 * units].
        bias_initializer: likewise for the bias [4 * units], deterministic by default.
        unit_forget_bias: whether the bias of the forget gate begins at 1 more.
        kernel_regularizer: cost of the posterior over the kernel, or None.
        recurrent_regularizer: likewise for the recurrent kernel.
        bias_regularizer: likewise for the bias.
        kernel_constraint: of a deterministic kernel.
        recurrent_constraint: of a deterministic recurrent kernel.
        bias_constraint: of a deterministic bias.
        dropout: fraction of the inputs to drop when training.
        recurrent_dropout: fraction of the state to drop when training.
        implementation: 1 for separate dropout masks for each gate of the inputs.
        **kwargs: of `tf.keras.layers.LSTMCell`.

    Raises:
        ValueError: `units` is below 1, or an initializer or regularizer is unknown.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> cell = ed.layers.LSTMCellReparameterization(4, name="lstm")
        >>> tf.keras.layers.RNN(cell)(tf.ones([2, 5, 3])).shape
        TensorShape([2, 4])
        >>> state = cell.get_initial_state(tf.ones([2, 5, 3]))
        >>> output, state = cell(tf.ones([2, 3]), state)
        >>> sorted(ed.posteriors(cell))
        ['lstm/kernel', 'lstm/recurrent_kernel']
    """

    num_gates = 4

    def build(self, input_shape):
        is_stochastic = isinstance(self.bias_initializer, tf.keras.layers.Layer)
        shifts_later = self.use_bias and self.unit_forget_bias and is_stochastic
        if shifts_later:
            self.unit_forget_bias = False  # Keras would build the posterior in three parts.
        super().build(input_shape)
        if shifts_later:
            self.unit_forget_bias = True
            self._forget_later()

    def _forget_later(self):
        """Moves the initial mean of the forget gate's bias by 1."""
        mean = getattr(self.bias_initializer, "mean", None)
        if isinstance(mean, tf.Variable):
            with tf.init_scope():
                shift = tf.repeat(tf.constant([0, 1, 0, 0], mean.dtype), self.units)
                mean.assign(mean + shift)

    def call(self, inputs, states, training=None):
        state, carry = (tf.convert_to_tensor(x) for x in (states[0], states[1]))
        parameters, masks = self.parameters(inputs, state, training)
        terms, recurrent_terms, bias = parameters
        inputs, state = (masked(x, m) for x, m in zip((inputs, state), masks, strict=True))
        sums = project((inputs, terms), (state, recurrent_terms))
        if bias is not None:
            sums = self.add_bias(sums, bias)
        first, forget, candidate, output = tf.split(sums, 4, axis=-1)
        carry = self.recurrent_activation(forget) * carry
        carry += self.recurrent_activation(first) * self.activation(candidate)
        state = self.recurrent_activation(output) * self.activation(carry)
        return state, [state, carry]

    def add_bias(self, sums, bias):
        """Sums of the four gates with their bias."""
        return products.add_bias(sums, bias)

    def make_parameters(self, batch_size):
        """Terms of the kernel and of the recurrent kernel, and the bias."""
        terms = self.make_terms(batch_size)
        return *terms, self.draw("bias") if self.use_bias else None


VariationalLSTMCell = LSTMCellReparameterization


@register
class LSTMCellFlipout(FlipoutCell, LSTMCellReparameterization):
    """LSTM cell that perturbs its kernels for each example by random signs.

    One perturbation of the kernels for the batch, and signs of each example, are drawn once
    a sequence and constant in time. Each example's kernels are distributed as the
    posterior, as long as that is symmetric about its mean, and those of different examples
    are uncorrelated: gradients vary less than with `LSTMCellReparameterization`.

    Where kernels are held with their signs, [B, ...] or [S, B, ...], example b uses signs
    b at every step; without signs all examples use the kernels as they are.

    Source: Wen et al., 2018, Flipout: Efficient Pseudo-Independent Weight Perturbations on
    Mini-Batches, equation 4.

    Args and errors: as in `LSTMCellReparameterization`.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> cell = ed.layers.LSTMCellFlipout(4)
        >>> rnn = tf.keras.layers.RNN(cell, return_sequences=True)
        >>> rnn(tf.ones([2, 5, 3])).shape
        TensorShape([2, 5, 4])
    """
