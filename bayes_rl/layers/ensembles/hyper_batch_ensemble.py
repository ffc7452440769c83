"""Hyper-batch ensembles: BatchEnsembles whose weights respond to hyperparameters."""

from bayes_rl.layers.ensembles.batch_ensemble import Conv2DBatchEnsemble, DenseBatchEnsemble
from bayes_rl.layers.ensembles.hyper_batch_ensemble_base import HyperBatchEnsemble, separate
from bayes_rl.serialization import register


@register
class DenseHyperBatchEnsemble(HyperBatchEnsemble):
    """Dense layers of an ensemble whose weights respond to hyperparameters.

        kernel = main kernel * alpha gamma^T + (delta kernel * alpha' gamma'^T) * e[:units]
        bias = main bias + delta bias * e[units:]
        outputs = activation(data @ kernel + bias)

    with vectors and biases of the example's member, and e of the example. Inputs and
    `losses` are those of `HyperBatchEnsemble`; the two parts are `DenseBatchEnsemble`s,
    `dense` and `delta_dense`.

    Source: Wenzel et al., 2020, Hyperparameter Ensembles for Robustness and Uncertainty
    Quantification, section 4; MacKay et al., 2019, Self-Tuning Networks, equation 13.

    Args:
        units: size of the last output axis, at least 1.
        lambda_key_to_index: as in `HyperBatchEnsemble`.
        rank: as in `DenseBatchEnsemble`; likewise all that are not named here.
        kernel_regularizer: of both kernels, besides that of `lambdas`.
        bias_regularizer: of both biases, likewise.
        regularize_fast_weights: as in `HyperBatchEnsemble`.
        fast_weights_eq_contraint: as in `HyperBatchEnsemble`.
        **kwargs: of `tf.keras.layers.Layer`.

    Raises:
        ValueError: a size is below 1, `ensemble_size` does not divide the batch, or no
            column is named for a weight.

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

    def __init__(
        self,
        units,
        lambda_key_to_index,
        rank=1,
        ensemble_size=4,
        activation=None,
        use_bias=True,
        alpha_initializer="ones",
        gamma_initializer="ones",
        kernel_initializer="glorot_uniform",
        bias_initializer="zeros",
        kernel_regularizer=None,
        bias_regularizer=None,
        activity_regularizer=None,
        kernel_constraint=None,
        bias_constraint=None,
        regularize_fast_weights=True,
        fast_weights_eq_contraint=False,
        **kwargs,
    ):
        super().__init__(**separate(locals()))

    @property
    def dense(self):
        """The part that does not respond."""
        return self.main

    @property
    def delta_dense(self):
        """The part that is multiplied by e."""
        return self.delta


@register
class Conv2DHyperBatchEnsemble(HyperBatchEnsemble):
    """Convolutions over images of an ensemble whose weights respond to hyperparameters.

    As `DenseHyperBatchEnsemble`, of two `Conv2DBatchEnsemble`s, `main` and `delta`; e has
    `filters` columns, or 2 * filters with a bias.

    Source: Wenzel et al., 2020, Hyperparameter Ensembles for Robustness and Uncertainty
    Quantification, section 4.

    Args:
        lambda_key_to_index: as in `HyperBatchEnsemble`.
        filters: as in `Conv2DBatchEnsemble`; likewise all that are not named here.
        kernel_regularizer: of both kernels, besides that of `lambdas`.
        bias_regularizer: of both biases, likewise.
        regularize_fast_weights: as in `HyperBatchEnsemble`.
        fast_weights_eq_contraint: as in `HyperBatchEnsemble`.
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

    def __init__(
        self,
        lambda_key_to_index,
        filters,
        kernel_size,
        rank=1,
        ensemble_size=4,
        alpha_initializer="ones",
        gamma_initializer="ones",
        strides=(1, 1),
        padding="valid",
        data_format=None,
        activation=None,
        use_bias=True,
        kernel_initializer="glorot_uniform",
        bias_initializer="zeros",
        kernel_regularizer=None,
        bias_regularizer=None,
        activity_regularizer=None,
        kernel_constraint=None,
        bias_constraint=None,
        regularize_fast_weights=True,
        fast_weights_eq_contraint=False,
        **kwargs,
    ):
        super().__init__(**separate(locals()))
