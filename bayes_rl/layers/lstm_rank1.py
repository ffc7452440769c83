"""LSTM cell with a rank-1 posterior over its kernels."""

import tensorflow as tf

from bayes_rl import initializers, regularizers
from bayes_rl.layers.base import WeightAttribute
from bayes_rl.layers.lstm import LSTMStep
from bayes_rl.layers.recurrent import Term
from bayes_rl.normal import draw_from
from bayes_rl.serialization import register
from bayes_rl.tracing import is_tracing
from bayes_rl.weights import held


@register
class LSTMCellRank1(LSTMStep, tf.keras.layers.LSTMCell):
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
        if ensemble_size < 1:
            raise ValueError(f"ensemble_size must be at least 1, got {ensemble_size}")
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
        self.alpha_initializer = initializers.get(alpha_initializer)
        self.gamma_initializer = initializers.get(gamma_initializer)
        self.recurrent_alpha_initializer = initializers.get(recurrent_alpha_initializer)
        self.recurrent_gamma_initializer = initializers.get(recurrent_gamma_initializer)
        self.alpha_regularizer = regularizers.get(alpha_regularizer)
        self.gamma_regularizer = regularizers.get(gamma_regularizer)
        self.recurrent_alpha_regularizer = regularizers.get(recurrent_alpha_regularizer)
        self.recurrent_gamma_regularizer = regularizers.get(recurrent_gamma_regularizer)
        get_constraint = tf.keras.constraints.get
        self.alpha_constraint = get_constraint(alpha_constraint)
        self.gamma_constraint = get_constraint(gamma_constraint)
        self.recurrent_alpha_constraint = get_constraint(recurrent_alpha_constraint)
        self.recurrent_gamma_constraint = get_constraint(recurrent_gamma_constraint)
        self.use_additive_perturbation = use_additive_perturbation
        self.ensemble_size = ensemble_size

    def build(self, input_shape):
        super().build(input_shape)
        self.alpha = self._add_vector("alpha", input_shape[-1])
        self.gamma = self._add_vector("gamma", 4 * self.units)
        self.recurrent_alpha = self._add_vector("recurrent_alpha", self.units)
        self.recurrent_gamma = self._add_vector("recurrent_gamma", 4 * self.units)

    def _add_vector(self, key, size):
        return self.add_weight(
            key,
            [self.ensemble_size, size],
            initializer=getattr(self, f"{key}_initializer"),
            regularizer=getattr(self, f"{key}_regularizer"),
            constraint=getattr(self, f"{key}_constraint"),
        )

    def add_weight(self, name=None, shape=None, **kwargs):
        """As in `StochasticLayer`; the bias gets a row for each member."""
        if name == "bias":
            shape = (self.ensemble_size, *shape)
            kwargs["initializer"] = _for_each_row(kwargs["initializer"])
        return super().add_weight(name, shape, **kwargs)

    def make_parameters(self, batch_size):
        terms, recurrent_terms, bias = super().make_parameters(batch_size)
        if bias is not None:
            bias = tf.repeat(bias, self._examples(batch_size), axis=-2)
        return terms, recurrent_terms, bias

    def add_bias(self, sums, bias):
        return sums + bias  # It has a row for each example.

    def make_terms(self, key, batch_size):
        examples = self._examples(batch_size)
        join = tf.add if self.use_additive_perturbation else tf.multiply
        prefix = key.removesuffix("kernel")
        before, after = (
            self._vectors(f"{prefix}{name}", examples) for name in ("alpha", "gamma")
        )
        return [Term(self.draw(key), before, after, join)]

    def _examples(self, batch_size):
        """Number of examples of each member."""
        batch_size = self.known(batch_size)
        if not tf.is_tensor(batch_size) and batch_size % self.ensemble_size:
            raise ValueError(
                f"the batch size must be a multiple of ensemble_size {self.ensemble_size}, "
                f"got {batch_size}"
            )
        return batch_size // self.ensemble_size

    def _vectors(self, key, examples):
        """[B, size], a draw for each example, or [S, B, size] where S draws are held."""
        is_fixed = key not in self.stochastic_weights or held(self, key) is not None
        if is_fixed or is_tracing():
            return tf.repeat(self.draw(key), examples, axis=-2)
        draws = draw_from(self.stochastic_weights[key].posterior(), [examples])
        draws = tf.cast(tf.transpose(draws, [1, 0, 2]), self.compute_dtype)
        return tf.reshape(draws, [-1, draws.shape[-1]])

    def get_config(self):
        config = super().get_config()
        for key in ("alpha", "gamma", "recurrent_alpha", "recurrent_gamma"):
            for kind in ("initializer", "regularizer", "constraint"):
                value = getattr(self, f"{key}_{kind}")
                config[f"{key}_{kind}"] = (
                    None if value is None else initializers.serialize(value)
                )
        config["use_additive_perturbation"] = self.use_additive_perturbation
        config["ensemble_size"] = self.ensemble_size
        return config


def _for_each_row(initializer):
    if isinstance(initializer, tf.keras.layers.Layer):
        return initializer

    def rows(shape, dtype=None, **kwargs):
        return tf.stack(
            [initializer(shape[1:], dtype=dtype, **kwargs) for _ in range(shape[0])]
        )

    return rows
