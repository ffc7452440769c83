"""Hyper-batch ensembles: BatchEnsembles whose weights respond to hyperparameters."""

import inspect

import tensorflow as tf

from bayes_rl.initializers.seeding import fresh
from bayes_rl.layers.base import REQUIRED, ScaledKL, takes
from bayes_rl.layers.ensembles.batch_ensemble import Conv2DBatchEnsemble, DenseBatchEnsemble
from bayes_rl.layers.ensembles.members import align, repeat, vectors_of_members
from bayes_rl.numerics.means import mean_cost
from bayes_rl.serialization import register

_FAST_WEIGHTS = {"regularize_fast_weights": True, "fast_weights_eq_contraint": False}


def get_layer_name_identifier(layer_name):
    """The part of a layer's name that names its hyperparameters.

    Layers with names such as "group_1/conv_2" share those of "group_1".

    Source: Wenzel et al., 2020, Hyperparameter Ensembles for Robustness and Uncertainty
    Quantification, section 4.

    Args:
        layer_name: of the layer.

    Returns:
        The name up to its first slash.

    Example:
        >>> get_layer_name_identifier("group_1/conv_2"), get_layer_name_identifier("dense")
        ('group_1', 'dense')
    """
    return layer_name.partition("/")[0]


def get_lambda(lambdas, lambda_type, layer_name, lambda_key_to_index):
    """Column of a batch of hyperparameters that belongs to a layer.

    Source: Wenzel et al., 2020, Hyperparameter Ensembles for Robustness and Uncertainty
    Quantification, section 4.

    Args:
        lambdas: [..., B, number of hyperparameters].
        lambda_type: "l2_kernel" or "l2_bias".
        layer_name: of the layer.
        lambda_key_to_index: `<identifier of the layer>_<lambda_type>` -> column.

    Returns:
        [..., B, 1].

    Raises:
        ValueError: no column is named for it, or one that lambdas lack.

    Example:
        >>> import tensorflow as tf
        >>> lambdas = tf.constant([[0.1, 0.2], [0.3, 0.5]])
        >>> columns = {"dense_l2_kernel": 0, "dense_l2_bias": 1}
        >>> get_lambda(lambdas, "l2_bias", "dense", columns).numpy().ravel().tolist()
        [0.20000000298023224, 0.5]
    """
    key = f"{get_layer_name_identifier(layer_name)}_{lambda_type}"
    if key not in lambda_key_to_index:
        raise ValueError(
            f"layer {layer_name!r} needs the column of {key!r}, but lambda_key_to_index "
            f"names {sorted(lambda_key_to_index)}"
        )
    column, count = lambda_key_to_index[key], lambdas.shape[-1]
    if column < 0 or (count is not None and column >= count):
        raise ValueError(
            f"column of {key!r} must be from 0 and below the {count} columns of lambdas, "
            f"got {column}"
        )
    return lambdas[..., column : column + 1]


class _HyperBatchEnsemble(ScaledKL, tf.keras.layers.Layer):
    """Two BatchEnsembles, `main` and `delta`; see `DenseHyperBatchEnsemble`."""

    member_class = None

    def __init__(
        self,
        *,
        lambda_key_to_index,
        activation,
        activity_regularizer,
        regularize_fast_weights,
        fast_weights_eq_contraint,
        **kwargs,
    ):
        members = inspect.signature(self.member_class).parameters
        options = {name: kwargs.pop(name) for name in members if name in kwargs}
        super().__init__(activity_regularizer=activity_regularizer, **kwargs)
        # Keras would round lambdas, which may be far below what float16 holds.
        self._autocast = False
        self.lambda_key_to_index = dict(lambda_key_to_index)
        self.activation = tf.keras.activations.get(activation)
        self.regularize_fast_weights = regularize_fast_weights
        self.fast_weights_eq_contraint = fast_weights_eq_contraint
        self._option_names = tuple(options)
        self.main = self._make("main", options)
        if fast_weights_eq_contraint:
            options = {**options, "alpha_initializer": None, "gamma_initializer": None}
        self.delta = self._make("delta", options)

    def _make(self, name, options):
        # One initializer of Keras would give both parts the same initial values.
        options = {
            key: fresh(value) if key.endswith("_initializer") else value
            for key, value in options.items()
        }
        name = f"{self.name}_{name}"
        shared = {"dtype": self.dtype_policy, "kl_scale": self.kl_scale}
        return self.member_class(**options, name=name, **shared)

    def build(self, input_shape):
        for layer in (self.main, self.delta):
            with tf.name_scope(layer.name):
                layer.build(input_shape[0])
        self._units = self.main.compute_output_shape(input_shape[0])[
            1 if self.main.layout.channels_first else -1
        ]
        super().build(input_shape)

    def call(self, inputs):
        data, lambdas, e = inputs
        main, delta = self.main, self.delta
        e_kernel, e_bias = self._split(e)
        data = main.whole_for_each_draw(tf.cast(data, self.compute_dtype))
        examples = main.examples_in(data)
        kernels = [layer.draw("kernel", self.variable_dtype) for layer in (main, delta)]
        members = [self._vectors(main)]
        members.append(
            members[0] if self.fast_weights_eq_contraint else self._vectors(delta)
        )
        outputs, change = (
            main.product_between(
                data, tf.cast(kernel, data.dtype), *self._of_examples(vectors, examples)
            )
            for kernel, vectors in zip(kernels, members, strict=True)
        )
        outputs += change * align(main, tf.cast(e_kernel, change.dtype), change)
        norms = self._kernel_norms(kernels, members, e_kernel, examples)
        cost = self._lambda("l2_kernel", lambdas) * norms
        if e_bias is not None:
            bias = self._bias(e_bias, examples)
            cost += self._lambda("l2_bias", lambdas) * tf.square(bias)
            outputs += align(main, tf.cast(bias, outputs.dtype), outputs)
        self.add_loss(mean_cost(tf.reduce_sum(cost, axis=-1)))
        return outputs if self.activation is None else self.activation(outputs)

    def _vectors(self, layer):
        """Alpha and gamma of the members, for each rank."""
        dtype = self.variable_dtype
        return [vectors_of_members(layer, key, dtype) for key in ("alpha", "gamma")]

    def _of_examples(self, vectors, examples):
        return [
            [repeat(tf.cast(x, self.compute_dtype), examples) for x in ranks]
            for ranks in vectors
        ]

    def _split(self, e):
        """Responses of the kernel and of the bias; None for no bias."""
        columns = self._units * (2 if self.main.use_bias else 1)
        if not e.shape[-1:].is_compatible_with([columns]):
            raise ValueError(f"e must have shape [..., {columns}], got {e.shape}")
        return tf.split(e, 2, axis=-1) if self.main.use_bias else (e, None)

    def _bias(self, e, examples):
        """[..., B, units]."""
        bias, change = (
            repeat(layer.draw("bias", self.variable_dtype), examples)
            for layer in (self.main, self.delta)
        )
        return bias + change * tf.cast(e, self.variable_dtype)

    def _kernel_norms(self, kernels, members, e, examples):
        """|column of main + e * column of delta|^2 for each example and unit.

        The products of kernels and vectors, [ensemble_size, *kernel], are never made.
        """
        if not self.regularize_fast_weights:
            members = [[[tf.ones_like(x[0])] for x in vectors] for vectors in members]
        window = range(-2 - self.main.layout.rank, -2)
        first, mixed, second = (
            repeat(_inner(kernels, members, *both, list(window)), examples)
            for both in ((0, 0), (0, 1), (1, 1))
        )
        e = tf.cast(e, first.dtype)
        return first + 2 * e * mixed + tf.square(e) * second

    def _lambda(self, kind, lambdas):
        found = get_lambda(lambdas, kind, self.name, self.lambda_key_to_index)
        return tf.cast(found, self.variable_dtype)

    def get_config(self):
        options = self.main.get_config()
        return {
            **super().get_config(),
            **{name: options[name] for name in self._option_names},
            "lambda_key_to_index": dict(self.lambda_key_to_index),
            "activation": tf.keras.activations.serialize(self.activation),
            "regularize_fast_weights": self.regularize_fast_weights,
            "fast_weights_eq_contraint": self.fast_weights_eq_contraint,
        }


def _inner(kernels, members, one, other, window):
    """Inner products of columns of the members' kernels, [..., ensemble_size, units]."""
    product = tf.reduce_sum(kernels[one] * kernels[other], axis=window)
    return sum(
        gamma * other_gamma * tf.matmul(alpha * other_alpha, product)
        for alpha, gamma in zip(*members[one], strict=True)
        for other_alpha, other_gamma in zip(*members[other], strict=True)
    )


@register
@takes(
    DenseBatchEnsemble,
    after_units={"lambda_key_to_index": REQUIRED},
    after_bias_constraint=_FAST_WEIGHTS,
)
class DenseHyperBatchEnsemble(_HyperBatchEnsemble):
    """Dense layers of an ensemble whose weights respond to hyperparameters.

        kernel = main kernel * alpha gamma^T + (delta kernel * alpha' gamma'^T) * e[:units]
        bias = main bias + delta bias * e[units:]
        outputs = activation(data @ kernel + bias)

    with vectors and biases of the example's member, and e of the example, made elsewhere of
    its hyperparameters lambda. The two parts are `DenseBatchEnsemble`s, `dense` and
    `delta_dense`. Every call adds to `losses`

        mean over examples(lambda_kernel * |kernel of the example|^2
                           + lambda_bias * |bias of the example|^2)

    Inputs are a list [data, lambdas, e] of
        data: [ensemble_size * examples, ...], the examples of the first member first.
        lambdas: [ensemble_size * examples, number of hyperparameters], not below 0.
        e: [ensemble_size * examples, units], or 2 * units with a bias: those of the product
            first.

    Source: Wenzel et al., 2020, Hyperparameter Ensembles for Robustness and Uncertainty
    Quantification, section 4; MacKay et al., 2019, Self-Tuning Networks, equation 13.

    Args:
        units: size of the last output axis, at least 1.
        lambda_key_to_index: `<identifier of the layer>_l2_kernel` and, with a bias,
            `_l2_bias` -> column of lambdas; see `get_lambda`.
        rank: as in `DenseBatchEnsemble`; likewise all that are not named here.
        kernel_regularizer: of both kernels, besides that of `lambdas`.
        bias_regularizer: of both biases, likewise.
        regularize_fast_weights: whether the kernel in the cost has the factors alpha and
            gamma of its member.
        fast_weights_eq_contraint: whether delta has the vectors of main.
        **kwargs: of `tf.keras.layers.Layer`.

    Raises:
        ValueError: a size is below 1, `ensemble_size` does not divide the batch, or no
            column of lambdas is named for a weight.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> columns = {"dense_l2_kernel": 0, "dense_l2_bias": 1}
        >>> layer = ed.layers.DenseHyperBatchEnsemble(
        ...     4, columns, ensemble_size=2, name="dense"
        ... )
        >>> layer([tf.ones([6, 3]), tf.ones([6, 2]), tf.ones([6, 2 * 4])]).shape
        TensorShape([6, 4])
        >>> len(layer.losses)
        1
    """

    member_class = DenseBatchEnsemble

    @property
    def dense(self):
        """The part that does not respond."""
        return self.main

    @property
    def delta_dense(self):
        """The part that is multiplied by e."""
        return self.delta


@register
@takes(
    Conv2DBatchEnsemble,
    after_self={"lambda_key_to_index": REQUIRED},
    after_bias_constraint=_FAST_WEIGHTS,
)
class Conv2DHyperBatchEnsemble(_HyperBatchEnsemble):
    """Convolutions over images of an ensemble whose weights respond to hyperparameters.

    As `DenseHyperBatchEnsemble`, of two `Conv2DBatchEnsemble`s, `main` and `delta`; e has
    `filters` columns, or 2 * filters with a bias.

    Source: Wenzel et al., 2020, Hyperparameter Ensembles for Robustness and Uncertainty
    Quantification, section 4.

    Args:
        filters: as in `Conv2DBatchEnsemble`; likewise those of convolutions.
        lambda_key_to_index: as in `DenseHyperBatchEnsemble`; likewise all others.
        **kwargs: of `tf.keras.layers.Layer`.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> layer = ed.layers.Conv2DHyperBatchEnsemble(
        ...     {"conv_l2_kernel": 0}, 4, 3, ensemble_size=2, use_bias=False, name="conv"
        ... )
        >>> layer([tf.ones([6, 9, 9, 3]), tf.ones([6, 1]), tf.ones([6, 4])]).shape
        TensorShape([6, 7, 7, 4])
    """

    member_class = Conv2DBatchEnsemble
