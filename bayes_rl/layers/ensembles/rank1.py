"""Rank-1 Bayesian networks: random vectors of each example around a shared kernel."""

import tensorflow as tf

from bayes_rl.layers.base import StochasticLayer, takes
from bayes_rl.layers.convolutions.convolution import Convolution
from bayes_rl.layers.dense import DenseReparameterization
from bayes_rl.layers.ensembles.members import MemberLayer, rows_of_examples
from bayes_rl.serialization import register

_KL = "normal_kl_divergence"
_ARGUMENTS = {
    "after_use_bias": {
        "alpha_initializer": "trainable_normal",
        "gamma_initializer": "trainable_normal",
    },
    "after_bias_initializer": {"alpha_regularizer": _KL, "gamma_regularizer": _KL},
    "after_activity_regularizer": {"alpha_constraint": None, "gamma_constraint": None},
    "after_bias_constraint": {
        "use_additive_perturbation": False,
        "min_perturbation_value": -10,
        "max_perturbation_value": 10,
        "ensemble_size": 1,
    },
}


class _Rank1(MemberLayer):
    """`MemberLayer` whose vectors are drawn for each example, and clipped."""

    own_arguments = tuple(name for new in _ARGUMENTS.values() for name in new)

    def __init__(self, **kwargs):
        low, high = (kwargs[f"{side}_perturbation_value"] for side in ("min", "max"))
        if low > high:
            raise ValueError(
                f"min_perturbation_value {low} is above max_perturbation_value {high}"
            )
        super().__init__(**kwargs)

    @property
    def join(self):
        return tf.add if self.use_additive_perturbation else tf.multiply

    def vectors(self, key, examples):
        limits = self.min_perturbation_value, self.max_perturbation_value
        return [tf.clip_by_value(rows_of_examples(self, key, examples), *limits)]


@register
@takes(tf.keras.layers.Dense, **_ARGUMENTS)
class DenseRank1(_Rank1, DenseReparameterization):
    """Dense layer whose kernel is multiplied by random vectors of each example.

        alpha, gamma ~ posterior of the example's member, a draw for each example
        outputs = activation(((inputs * alpha) @ kernel) * gamma + bias)

    that is, the kernel times the outer product alpha gamma^T. With
    `use_additive_perturbation`, sums take the place of both products with vectors. The
    posterior over the vectors is a mixture of `ensemble_size` members: the batch is
    [ensemble_size * examples, ...], the examples of the first member first, and each
    member has a bias. Held vectors (`bayes_rl.hold`), and those that a tracer sees, are
    those of all examples of their member.

    The default posteriors have means near 0, as in Edward2; for products, means of 1, such
    as `TrainableNormal(mean_initializer="ones")`, are those of the paper, with a
    `NormalKLDivergence(mean=1.0)`.

    Source: Dusenberry et al., 2020, Efficient and Scalable Bayesian Neural Nets with Rank-1
    Factors, equation 1 and section 3.

    Args:
        units: as in `tf.keras.layers.Dense`; likewise all that are not named here.
        use_bias: whether to add a bias, [ensemble_size, units].
        alpha_initializer: posterior over alpha, [ensemble_size, features]; an ordinary
            initializer makes alpha deterministic.
        gamma_initializer: likewise for gamma, [ensemble_size, units].
        kernel_initializer: of the kernel, [features, units], deterministic by default.
        alpha_regularizer: cost of the posterior over alpha, or None.
        gamma_regularizer: likewise for gamma.
        alpha_constraint: of a deterministic alpha.
        gamma_constraint: of a deterministic gamma.
        use_additive_perturbation: whether vectors are added, not multiplied.
        min_perturbation_value: below which alpha and gamma are clipped.
        max_perturbation_value: above which alpha and gamma are clipped.
        ensemble_size: number of members of the mixture.

    Raises:
        ValueError: `units` or `ensemble_size` is below 1, the latter does not divide the
            batch, the limits are in the wrong order, or an initializer or regularizer is
            unknown.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> layer = ed.layers.DenseRank1(4, ensemble_size=2, name="dense")
        >>> layer(tf.ones([6, 3])).shape
        TensorShape([6, 4])
        >>> layer.alpha.name, layer.alpha.shape
        ('dense/alpha', TensorShape([2, 3]))
    """


_takes_of_convolution = takes(
    tf.keras.layers.Conv2D,
    without=["groups"],
    strides=1,
    dilation_rate=1,
    **_ARGUMENTS,
)


@register
@_takes_of_convolution
class Conv1DRank1(_Rank1, Convolution, StochasticLayer, tf.keras.layers.Conv1D):
    """Convolution over time whose channels are multiplied by vectors of each example.

    As `Conv2DRank1`, over time.

    Inputs: [ensemble_size * examples, length, channels].

    Source: Dusenberry et al., 2020, Rank-1 Factors, equation 1.

    Args: as in `Conv2DRank1`.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> ed.layers.Conv1DRank1(4, 3, ensemble_size=2)(tf.ones([6, 9, 3])).shape
        TensorShape([6, 7, 4])
    """


@register
@_takes_of_convolution
class Conv2DRank1(_Rank1, Convolution, StochasticLayer, tf.keras.layers.Conv2D):
    """Convolution over images whose channels are multiplied by vectors of each example.

        outputs = activation(convolution(inputs * alpha, kernel) * gamma + bias)

    with alpha for the channels of the inputs and gamma for the filters. Otherwise as
    `DenseRank1`.

    Inputs: [ensemble_size * examples, height, width, channels].

    Source: Dusenberry et al., 2020, Rank-1 Factors, equation 1.

    Args: those of the convolution as in `tf.keras.layers.Conv2D`, others as in
        `DenseRank1`.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> ed.layers.Conv2DRank1(4, 3, ensemble_size=2)(tf.ones([6, 9, 9, 3])).shape
        TensorShape([6, 7, 7, 4])
    """
