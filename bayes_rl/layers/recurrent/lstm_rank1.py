"""LSTM cell with a rank-1 posterior over its kernels."""

import tensorflow as tf

from bayes_rl import checks
from bayes_rl.layers.base import WeightAttribute, takes
from bayes_rl.layers.ensembles.members import (
    add_vectors,
    examples_of,
    repeat,
    rows_of_examples,
    with_rows,
)
from bayes_rl.layers.recurrent.cells import Term
from bayes_rl.layers.recurrent.lstm import LSTMCellReparameterization
from bayes_rl.serialization import register

_NORMAL, _KL = "trainable_normal", "normal_kl_divergence"
_ARGUMENTS = {
    "after_use_bias": {"alpha_initializer": _NORMAL, "gamma_initializer": _NORMAL},
    "after_kernel_initializer": {
        "recurrent_alpha_initializer": _NORMAL,
        "recurrent_gamma_initializer": _NORMAL,
    },
    "after_unit_forget_bias": {"alpha_regularizer": _KL, "gamma_regularizer": _KL},
    "after_kernel_regularizer": {
        "recurrent_alpha_regularizer": _KL,
        "recurrent_gamma_regularizer": _KL,
    },
    "after_bias_regularizer": {"alpha_constraint": None, "gamma_constraint": None},
    "after_kernel_constraint": {
        "recurrent_alpha_constraint": None,
        "recurrent_gamma_constraint": None,
    },
    "after_recurrent_dropout": {
        "implementation": 2,
        "use_additive_perturbation": False,
        "ensemble_size": 1,
    },
}


@register
@takes(tf.keras.layers.LSTMCell, **_ARGUMENTS)
class LSTMCellRank1(LSTMCellReparameterization):
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
        units: as in `LSTMCellReparameterization`; likewise all that are not named here.
        use_bias: whether to add a bias, [ensemble_size, 4 * units].
        alpha_initializer: posterior over alpha, [ensemble_size, features]; an ordinary
            initializer makes alpha deterministic. Likewise for the other vectors.
        gamma_initializer: posterior over gamma, [ensemble_size, 4 * units].
        kernel_initializer: of the kernel, [features, 4 * units], deterministic by default.
        recurrent_alpha_initializer: posterior over recurrent_alpha, [ensemble_size, units].
        recurrent_gamma_initializer: likewise, [ensemble_size, 4 * units].
        recurrent_initializer: of the recurrent kernel, [units, 4 * units].
        alpha_regularizer: cost of the posterior over alpha, or None; likewise all others.
        alpha_constraint: of a deterministic alpha; likewise all others.
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

    own_arguments = tuple(
        name for new in _ARGUMENTS.values() for name in new if name != "implementation"
    )
    alpha = WeightAttribute()
    gamma = WeightAttribute()
    recurrent_alpha = WeightAttribute()
    recurrent_gamma = WeightAttribute()

    def __init__(self, *, ensemble_size, **kwargs):
        checks.at_least_1(ensemble_size=ensemble_size)
        super().__init__(ensemble_size=ensemble_size, **kwargs)

    def add_weight(self, name=None, shape=None, **kwargs):
        """As in `StochasticLayer`; the bias gets a row for each member."""
        return super().add_weight(**with_rows(self, name, shape, **kwargs))

    def build(self, input_shape):
        super().build(input_shape)
        for prefix, size in (("", input_shape[-1]), ("recurrent_", self.units)):
            add_vectors(self, f"{prefix}alpha", size)
            add_vectors(self, f"{prefix}gamma", 4 * self.units)

    def make_parameters(self, batch_size):
        terms, recurrent_terms, bias = super().make_parameters(batch_size)
        if bias is not None:
            bias = repeat(bias, examples_of(self, self.known(batch_size)))
        return terms, recurrent_terms, bias

    def add_bias(self, sums, bias):
        return sums + bias  # It has a row for each example.

    def make_terms(self, batch_size):
        examples = examples_of(self, self.known(batch_size))
        join = tf.add if self.use_additive_perturbation else tf.multiply

        def term(prefix):
            both = (f"{prefix}alpha", f"{prefix}gamma")
            vectors = (rows_of_examples(self, key, examples) for key in both)
            return Term(self.draw(f"{prefix}kernel"), *vectors, join)

        return [term("")], [term("recurrent_")]
