"""LSTM cell with a rank-1 posterior over its kernels."""

import tensorflow as tf

from bayes_rl import initializers, regularizers
from bayes_rl.layers.base import WeightAttribute
from bayes_rl.layers.ensembles.rank1_base import Rank1Vectors
from bayes_rl.layers.recurrent.cells import Term
from bayes_rl.layers.recurrent.lstm import LSTMStep
from bayes_rl.serialization import register


@register
class LSTMCellRank1(Rank1Vectors, LSTMStep, tf.keras.layers.LSTMCell):
    """LSTM cell whose kernels are multiplied by random vectors of each example.

        sums = ((x * alpha) @ kernel) * gamma
             + ((h * recurrent_alpha) @ recurrent_kernel) * recurrent_gamma + bias

    that is, kernels times outer products alpha gamma^T, a draw for each example and
    sequence. With `use_additive_perturbation`, sums take the place of the four products
    with vectors. The posterior over the vectors is a mixture of `ensemble_size` members:
    the batch is [ensemble_size * examples, ...], the examples of the first member first. A
    sequence is as in `LSTMCellReparameterization`. Held vectors (`bayes_rl.hold`) are those
    of all examples of their member.

    The default posteriors have means near 0, as in Edward2; for products, means of 1, such
    as `TrainableNormal(mean_initializer="ones")`, are those of the paper.

    Source: Dusenberry et al., 2020, Efficient and Scalable Bayesian Neural Nets with Rank-1
    Factors, equation 1 and section 3.

    Args:
        units: size of state and output, at least 1.
        activation: of the candidate and of the carry on its way out.
        recurrent_activation: of the gates.
        use_bias: whether to add a bias, [ensemble_size, 4 * units].
        alpha_initializer: posterior over alpha, [ensemble_size, features].
        gamma_initializer: posterior over gamma, [ensemble_size, 4 * units].
        kernel_initializer: of the kernel, [features, 4 * units], deterministic by default.
        recurrent_alpha_initializer: likewise, [ensemble_size, units].
        recurrent_gamma_initializer: likewise, [ensemble_size, 4 * units].
        recurrent_initializer: of the recurrent kernel, [units, 4 * units].
        bias_initializer: of the bias.
        unit_forget_bias: whether the bias of the forget gate begins at 1 more.
        alpha_regularizer: cost of the posterior over alpha, or None.
        gamma_regularizer: likewise for gamma.
        kernel_regularizer: likewise for the kernel.
        recurrent_alpha_regularizer: likewise for recurrent_alpha.
        recurrent_gamma_regularizer: likewise for recurrent_gamma.
        recurrent_regularizer: likewise for the recurrent kernel.
        bias_regularizer: likewise for the bias.
        alpha_constraint: of a deterministic alpha; likewise all constraints.
        gamma_constraint: of a deterministic gamma.
        kernel_constraint: of a deterministic kernel.
        recurrent_alpha_constraint: of a deterministic recurrent_alpha.
        recurrent_gamma_constraint: of a deterministic recurrent_gamma.
        recurrent_constraint: of a deterministic recurrent kernel.
        bias_constraint: of a deterministic bias.
        dropout: fraction of the inputs to drop when training.
        recurrent_dropout: fraction of the state to drop when training.
        implementation: 1 for separate dropout masks for each gate of the inputs.
        use_additive_perturbation: whether vectors are added, not multiplied.
        ensemble_size: number of members of the mixture.
        **kwargs: of `tf.keras.layers.LSTMCell`.

    Raises:
        ValueError: `ensemble_size` is below 1 or does not divide the batch, or an
            initializer or regularizer is unknown.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> cell = ed.layers.LSTMCellRank1(4, ensemble_size=2, name="lstm")
        >>> tf.keras.layers.RNN(cell)(tf.ones([6, 5, 3])).shape
        TensorShape([6, 4])
        >>> cell.alpha.name, cell.alpha.shape
        ('lstm/alpha', TensorShape([2, 3]))
    """

    alpha = WeightAttribute()
    gamma = WeightAttribute()
    recurrent_alpha = WeightAttribute()
    recurrent_gamma = WeightAttribute()

    def __init__(
        self,
        units,
        activation="tanh",
        recurrent_activation="sigmoid",
        use_bias=True,
        alpha_initializer="trainable_normal",
        gamma_initializer="trainable_normal",
        kernel_initializer="glorot_uniform",
        recurrent_alpha_initializer="trainable_normal",
        recurrent_gamma_initializer="trainable_normal",
        recurrent_initializer="orthogonal",
        bias_initializer="zeros",
        unit_forget_bias=True,
        alpha_regularizer="normal_kl_divergence",
        gamma_regularizer="normal_kl_divergence",
        kernel_regularizer=None,
        recurrent_alpha_regularizer="normal_kl_divergence",
        recurrent_gamma_regularizer="normal_kl_divergence",
        recurrent_regularizer=None,
        bias_regularizer=None,
        alpha_constraint=None,
        gamma_constraint=None,
        kernel_constraint=None,
        recurrent_alpha_constraint=None,
        recurrent_gamma_constraint=None,
        recurrent_constraint=None,
        bias_constraint=None,
        dropout=0.0,
        recurrent_dropout=0.0,
        implementation=2,
        use_additive_perturbation=False,
        ensemble_size=1,
        **kwargs,
    ):
        super().__init__(
            units,
            activation=activation,
            recurrent_activation=recurrent_activation,
            use_bias=use_bias,
            kernel_initializer=initializers.get(kernel_initializer),
            recurrent_initializer=initializers.get(recurrent_initializer),
            bias_initializer=initializers.get(bias_initializer),
            unit_forget_bias=unit_forget_bias,
            kernel_regularizer=regularizers.get(kernel_regularizer),
            recurrent_regularizer=regularizers.get(recurrent_regularizer),
            bias_regularizer=regularizers.get(bias_regularizer),
            kernel_constraint=kernel_constraint,
            recurrent_constraint=recurrent_constraint,
            bias_constraint=bias_constraint,
            dropout=dropout,
            recurrent_dropout=recurrent_dropout,
            implementation=implementation,
            **kwargs,
        )
        self.declare_vectors(
            ensemble_size,
            alpha_initializer=alpha_initializer,
            gamma_initializer=gamma_initializer,
            recurrent_alpha_initializer=recurrent_alpha_initializer,
            recurrent_gamma_initializer=recurrent_gamma_initializer,
            alpha_regularizer=alpha_regularizer,
            gamma_regularizer=gamma_regularizer,
            recurrent_alpha_regularizer=recurrent_alpha_regularizer,
            recurrent_gamma_regularizer=recurrent_gamma_regularizer,
            alpha_constraint=alpha_constraint,
            gamma_constraint=gamma_constraint,
            recurrent_alpha_constraint=recurrent_alpha_constraint,
            recurrent_gamma_constraint=recurrent_gamma_constraint,
        )
        self.use_additive_perturbation = use_additive_perturbation

    def build(self, input_shape):
        super().build(input_shape)
        self.alpha = self.add_vectors("alpha", input_shape[-1])
        self.gamma = self.add_vectors("gamma", 4 * self.units)
        self.recurrent_alpha = self.add_vectors("recurrent_alpha", self.units)
        self.recurrent_gamma = self.add_vectors("recurrent_gamma", 4 * self.units)

    def make_parameters(self, batch_size):
        terms, recurrent_terms, bias = super().make_parameters(batch_size)
        if bias is not None:
            bias = tf.repeat(bias, self.examples(self.known(batch_size)), axis=-2)
        return terms, recurrent_terms, bias

    def add_bias(self, sums, bias):
        return sums + bias  # It has a row for each example.

    def make_terms(self, key, batch_size):
        examples = self.examples(self.known(batch_size))
        join = tf.add if self.use_additive_perturbation else tf.multiply
        prefix = key.removesuffix("kernel")
        before, after = (
            self.vectors(f"{prefix}{name}", examples) for name in ("alpha", "gamma")
        )
        return [Term(self.draw(key), before, after, join)]

    def get_config(self):
        additive = self.use_additive_perturbation
        return {**super().get_config(), "use_additive_perturbation": additive}
