"""Heteroscedastic outputs whose noise is correlated across classes by few factors."""

import tensorflow as tf

from bayes_rl import checks
from bayes_rl.layers.base.arguments import REQUIRED, takes
from bayes_rl.layers.outputs.heteroscedastic.monte_carlo import MCSoftmaxOutputLayerBase
from bayes_rl.serialization import register


@register
@takes(
    MCSoftmaxOutputLayerBase,
    after_num_classes={"num_factors": REQUIRED},
    after_temperature={"parameter_efficient": False},
)
class MCSoftmaxDenseFA(MCSoftmaxOutputLayerBase):
    """Heteroscedastic softmax output with a factor analysis of the noise.

        latents ~ Normal(loc, V V^T + diag(d^2))    V [K, num_factors], loc and d [K]

    loc, V and d = softplus(.) + 0.001 are linear in the inputs. `parameter_efficient`
    takes V = diag(v) W, with v [K] linear in the inputs and W [K, num_factors] the same
    for all of them.

    Source: Collier et al., 2021, sections 3 and 3.1. Departure from Edward2: W has no bias,
    which would move the mean, and the two parts of the noise are independent.

    Args:
        num_classes: K, at least 2.
        num_factors: not below 0.
        temperature: above 0.
        parameter_efficient: whether W is shared by all inputs.
        train_mc_samples: as in `MCSoftmaxOutputLayerBase`, and so all that follow.

    Raises:
        ValueError: an argument is out of its range.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> layer = ed.layers.MCSoftmaxDenseFA(5, num_factors=2, logits_only=True)
        >>> layer(tf.ones([2, 3])).shape
        TensorShape([2, 5])
    """

    def __init__(self, *, num_factors, parameter_efficient, **kwargs):
        checks.not_negative(num_factors=num_factors)
        super().__init__(**kwargs)
        self.num_factors = num_factors
        self.parameter_efficient = parameter_efficient
        self.homoscedastic_layer = None
        if parameter_efficient and num_factors:
            self.homoscedastic_layer = tf.keras.layers.Dense(
                self.num_latents,
                use_bias=False,
                kernel_regularizer=self.kernel_regularizer,
                dtype=self._dtype_policy,
                name="scale_homoscedastic",
            )
        self._add_projections()

    def _add_projections(self):
        self.loc_layer = self._make_loc_layer()
        self.diag_layer = self.add_projection("diag", self.num_latents)
        self.scale_layer = None
        if self.num_factors:
            rank = 1 if self.parameter_efficient else self.num_factors
            self.scale_layer = self.add_projection("scale", self.num_latents * rank)

    def _make_loc_layer(self):
        return self.add_projection("loc", self.num_latents)

    def build(self, input_shape):
        if self.homoscedastic_layer is not None:
            with tf.name_scope("scale_homoscedastic"):
                self.homoscedastic_layer.build([None, self.num_factors])
        super().build(input_shape)

    def _compute_scale_param(self, inputs):
        """(V [..., K, num_factors], or v [..., K], or None; d [..., K])."""
        diag = self.positive(self.diag_layer, inputs)
        if not self.num_factors:
            return None, diag
        rank = [] if self.parameter_efficient else [self.num_factors]
        return self.project(self.scale_layer, inputs, self.num_latents, *rank), diag

    def _compute_noise_samples(self, scale, num_samples, seed):
        factors, diag = scale
        diag_seed, factor_seed = tf.unstack(tf.random.experimental.stateless_split(seed))
        noise = self.standard_noise(diag, num_samples, self.num_latents, diag_seed)
        noise *= diag[..., tf.newaxis, :]
        if factors is None:
            return noise
        common = self.standard_noise(diag, num_samples, self.num_factors, factor_seed)
        if self.parameter_efficient:
            shared = tf.cast(self.homoscedastic_layer(common), diag.dtype)
            return noise + shared * factors[..., tf.newaxis, :]
        return noise + tf.matmul(common, factors, transpose_b=True)


@register
@takes(
    MCSoftmaxDenseFA,
    without=["num_classes"],
    after_num_classes={"num_outputs": REQUIRED},
    num_factors=0,
)
class MCSigmoidDenseFA(MCSoftmaxDenseFA):
    """Heteroscedastic output of binary labels, correlated by a factor analysis.

        latents ~ Normal(loc, V V^T + diag(d^2))
        probs = E[sigmoid(latents / temperature)], one for each of num_outputs labels

    Source: Collier et al., 2021, section 3, for labels that do not exclude each other.

    Args:
        num_outputs: K, number of labels, at least 1.
        num_factors: not below 0.
        temperature: as in `MCSoftmaxDenseFA`, and so all that follow.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> layer = ed.layers.MCSigmoidDenseFA(4, logits_only=True)
        >>> layer(tf.ones([2, 3])).shape
        TensorShape([2, 4])
    """

    def __init__(self, *, num_outputs, **kwargs):
        checks.at_least_1(num_outputs=num_outputs)
        self.num_outputs = num_outputs
        super().__init__(num_classes=num_outputs, **kwargs)

    @property
    def is_softmax(self):
        return False

    @property
    def num_latents(self):
        return self.num_outputs

    def get_config(self):
        config = super().get_config()
        return {"num_outputs": config.pop("num_classes"), **config}


@register
@takes(MCSoftmaxDenseFA, after_num_factors={"ensemble_size": REQUIRED})
class MultiHeadMCSoftmaxDenseFA(MCSoftmaxDenseFA):
    """`MCSoftmaxDenseFA` for every member of an ensemble that shares the inputs.

        inputs [..., features] -> outputs [..., ensemble_size, num_classes]

    Source: Collier et al., 2021, section 3, on the heads of Havasi et al., 2021, Training
    Independent Subnetworks for Robust Prediction.

    Args:
        num_classes: at least 2.
        num_factors: not below 0.
        ensemble_size: at least 1.
        temperature: as in `MCSoftmaxDenseFA`, and so all that follow.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> layer = ed.layers.MultiHeadMCSoftmaxDenseFA(5, 2, 3, logits_only=True)
        >>> layer(tf.ones([2, 7])).shape
        TensorShape([2, 3, 5])
    """

    def __init__(self, *, ensemble_size, **kwargs):
        checks.at_least_1(ensemble_size=ensemble_size)
        self.ensemble_size = ensemble_size
        self.heads = (ensemble_size,)
        super().__init__(**kwargs)


@register
@takes(
    MCSoftmaxDenseFA,
    without=[
        *("kernel_regularizer", "bias_regularizer", "return_unaveraged_logits"),
        *("tune_temperature", "temperature_lower_bound", "temperature_upper_bound"),
    ],
    after_num_factors=dict.fromkeys(("scale_layer", "loc_layer", "diag_layer"), REQUIRED),
)
class MCSoftmaxDenseFACustomLayers(MCSoftmaxDenseFA):
    """`MCSoftmaxDenseFA` whose parameters come from layers that the user gives.

    Args:
        num_classes: K, at least 2.
        num_factors: not below 0.
        scale_layer: from the inputs to V, [..., K * num_factors]; with
            `parameter_efficient` to v, [..., K].
        loc_layer: from the inputs to loc, [..., K].
        diag_layer: from the inputs to d before its softplus, [..., K].
        temperature: as in `MCSoftmaxDenseFA`, and so all that follow.

    K is 1 for two classes.

    Source: Collier et al., 2021, section 3.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> scale, loc, diag = [tf.keras.layers.Dense(units) for units in (10, 5, 5)]
        >>> layer = ed.layers.MCSoftmaxDenseFACustomLayers(5, 2, scale, loc, diag)
        >>> layer(tf.ones([2, 3]))[0].shape
        TensorShape([2, 5])
    """

    def __init__(self, *, scale_layer, loc_layer, diag_layer, **kwargs):
        self._given = {
            "scale_layer": scale_layer,
            "loc_layer": loc_layer,
            "diag_layer": diag_layer,
        }
        super().__init__(**kwargs)

    def _add_projections(self):
        for name, layer in self._given.items():
            setattr(self, name, layer)


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
