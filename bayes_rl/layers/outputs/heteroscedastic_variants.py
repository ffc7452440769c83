"""Factor-analytic heteroscedastic outputs of ensembles, pixels and the user's layers."""

from bayes_rl.layers.outputs.heteroscedastic_factors import MCSoftmaxDenseFA
from bayes_rl.serialization import deserialize, register, serialize


@register
class MultiHeadMCSoftmaxDenseFA(MCSoftmaxDenseFA):
    """`MCSoftmaxDenseFA` for every member of an ensemble that shares the inputs.

        inputs [..., features] -> outputs [..., ensemble_size, num_classes]

    Source: Collier et al., 2021, section 3, on the heads of Havasi et al., 2021, Training
    Independent Subnetworks for Robust Prediction.

    Args:
        num_classes: at least 2.
        num_factors: not below 0.
        ensemble_size: at least 1.
        *args: the further arguments of `MCSoftmaxDenseFA`, from `temperature` on.
        **kwargs: of `MCSoftmaxDenseFA`.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> layer = ed.layers.MultiHeadMCSoftmaxDenseFA(5, 2, 3, logits_only=True)
        >>> layer(tf.ones([2, 7])).shape
        TensorShape([2, 3, 5])
    """

    options = (*MCSoftmaxDenseFA.options, "ensemble_size")

    def __init__(self, num_classes, num_factors, ensemble_size, *args, **kwargs):
        if ensemble_size < 1:
            raise ValueError(f"ensemble_size must be at least 1, got {ensemble_size}")
        self.ensemble_size = ensemble_size
        self.heads = (ensemble_size,)
        super().__init__(num_classes, num_factors, *args, **kwargs)


@register
class MCSoftmaxDenseFACustomLayers(MCSoftmaxDenseFA):
    """`MCSoftmaxDenseFA` whose parameters come from layers that the user gives.

    Args:
        num_classes: K, at least 2.
        num_factors: not below 0.
        scale_layer: from the inputs to V, [..., K * num_factors]; with
            `parameter_efficient` to v, [..., K].
        loc_layer: from the inputs to loc, [..., K].
        diag_layer: from the inputs to d before its softplus, [..., K].
        temperature: as in `MCSoftmaxDenseFA`; likewise up to `dtype`.
        parameter_efficient: whether W is shared by all inputs.
        train_mc_samples: number of samples in training.
        test_mc_samples: number of samples otherwise.
        compute_pred_variance: as in `MCSoftmaxDense`.
        share_samples_across_batch: as in `MCSoftmaxDense`.
        logits_only: as in `MCSoftmaxDense`.
        eps: least probability.
        dtype: of the layer.
        name: of the layer.
        **kwargs: of `MCSoftmaxDenseFA`.

    K is 1 for two classes.

    Source: Collier et al., 2021, section 3.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> scale, loc, diag = [tf.keras.layers.Dense(units) for units in (10, 5, 5)]
        >>> layer = ed.layers.MCSoftmaxDenseFACustomLayers(5, 2, scale, loc, diag)
        >>> layer(tf.ones([2, 3]))[0].shape
        TensorShape([2, 5])
    """

    def __init__(
        self,
        num_classes,
        num_factors,
        scale_layer,
        loc_layer,
        diag_layer,
        temperature=1.0,
        parameter_efficient=False,
        train_mc_samples=1000,
        test_mc_samples=1000,
        compute_pred_variance=False,
        share_samples_across_batch=False,
        logits_only=False,
        eps=1e-7,
        dtype=None,
        name=None,
        **kwargs,
    ):
        self._given = {
            "scale_layer": scale_layer,
            "loc_layer": loc_layer,
            "diag_layer": diag_layer,
        }
        super().__init__(
            num_classes,
            num_factors,
            temperature,
            parameter_efficient,
            train_mc_samples,
            test_mc_samples,
            compute_pred_variance,
            share_samples_across_batch,
            logits_only,
            eps,
            dtype,
            name=name,
            **kwargs,
        )

    def _add_projections(self):
        for name, layer in self._given.items():
            setattr(self, name, layer)

    def get_config(self):
        layers = {name: serialize(layer) for name, layer in self._given.items()}
        return {**super().get_config(), **layers}

    @classmethod
    def from_config(cls, config):
        names = ("scale_layer", "loc_layer", "diag_layer")
        layers = {name: deserialize(config[name]) for name in names}
        return cls(**{**config, **layers})


@register
class MCSoftmaxDenseFASegmentation(MCSoftmaxDenseFA):
    """`MCSoftmaxDenseFA` at every pixel, with noise of its own for each.

        inputs [B, height, width, features] -> outputs [B, height, width, num_classes]

    Args: as in `MCSoftmaxDenseFA`.

    Raises:
        ValueError: the inputs have another number of axes.

    Source: Fortuin et al., 2021, Deep Classifiers with Label Noise Modeling and Distance
    Awareness, and Collier et al., 2021, for images of labels.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> layer = ed.layers.MCSoftmaxDenseFASegmentation(
        ...     5, 2, train_mc_samples=10, logits_only=True)
        >>> layer(tf.ones([2, 4, 6, 3])).shape
        TensorShape([2, 4, 6, 5])
    """

    def build(self, input_shape):
        if len(input_shape) != 4:
            raise ValueError(
                "inputs must have shape [batch, height, width, features], got "
                f"{tuple(input_shape)}"
            )
        super().build(input_shape)
