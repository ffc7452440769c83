"""BatchEnsemble: members of an ensemble share a kernel and have vectors of their own."""

import tensorflow as tf

from bayes_rl.layers.base import takes
from bayes_rl.layers.convolutions.convolution import Filters
from bayes_rl.layers.convolutions.depthwise import Depthwise
from bayes_rl.layers.dense import DenseReparameterization
from bayes_rl.layers.ensembles.members import MemberLayer
from bayes_rl.serialization import register

VECTORS = {"alpha_initializer": "ones", "gamma_initializer": "ones"}


@register
@takes(
    tf.keras.layers.Dense,
    after_units={"rank": 1, "ensemble_size": 4},
    after_use_bias=VECTORS,
)
class DenseBatchEnsemble(MemberLayer, DenseReparameterization):
    """Dense layers of an ensemble, whose kernels differ by outer products of vectors.

        kernel[k] = kernel * sum over r(alpha[r, k] gamma[r, k]^T)
        outputs = activation(inputs @ kernel[k] + bias[k])
                = activation(sum over r(((inputs * alpha[r, k]) @ kernel) * gamma[r, k])
                             + bias[k])

    for the examples of member k: the batch is [ensemble_size * examples, ...], the examples
    of the first member first. `tf.tile` gives every member the same examples, within each
    batch: `fit` and `predict` of tiled data cut it into batches that members share
    otherwise, unless `batch_size` is all of it. A member costs its vectors only, and one
    product serves all.

    Source: Wen et al., 2020, BatchEnsemble: An Alternative Approach to Efficient Ensemble
    and Lifelong Learning, equations 1 and 5.

    Args:
        units: size of the last output axis, at least 1.
        rank: number of pairs of vectors of a member.
        ensemble_size: number of members.
        activation: of the outputs.
        use_bias: whether to add a bias, [ensemble_size, units].
        alpha_initializer: of the vectors before the product, [ensemble_size, features] or,
            for a rank above 1, [rank, ensemble_size, features]; "random_sign" and normal
            values around 1 are usual. A posterior is drawn once a call for each member.
            With None the product has no alpha.
        gamma_initializer: likewise of the vectors after it, [ensemble_size, units].
        kernel_initializer: of the kernel; a posterior is drawn once a call. All others are
            as in `tf.keras.layers.Dense`.

    Raises:
        ValueError: `units`, `rank` or `ensemble_size` is below 1, the latter does not
            divide the batch, or an initializer or regularizer is unknown.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> sign = ed.initializers.RandomSign(0.5)
        >>> layer = ed.layers.DenseBatchEnsemble(4, ensemble_size=2, alpha_initializer=sign)
        >>> layer(tf.tile(tf.ones([3, 5]), [2, 1])).shape
        TensorShape([6, 4])
        >>> layer.alpha.shape, layer.gamma.shape, layer.bias.shape
        (TensorShape([2, 5]), TensorShape([2, 4]), TensorShape([2, 4]))
    """


@register
@takes(
    tf.keras.layers.Conv1D,
    without=["dilation_rate", "groups"],
    after_kernel_size={"ensemble_size": 4, **VECTORS},
)
class Conv1DBatchEnsemble(MemberLayer, Filters, tf.keras.layers.Conv1D):
    """Convolutions over time of an ensemble, which share a kernel.

    As `Conv2DBatchEnsemble`, over time and with one pair of vectors a member.

    Inputs: [ensemble_size * examples, length, channels].

    Source: Wen et al., 2020, BatchEnsemble, section 3.

    Args: as in `tf.keras.layers.Conv1D` and `DenseBatchEnsemble`.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> ed.layers.Conv1DBatchEnsemble(4, 3, ensemble_size=2)(tf.ones([6, 9, 3])).shape
        TensorShape([6, 7, 4])
    """


@register
@takes(
    tf.keras.layers.Conv2D,
    without=["dilation_rate", "groups"],
    after_kernel_size={"rank": 1, "ensemble_size": 4, **VECTORS},
)
class Conv2DBatchEnsemble(MemberLayer, Filters, tf.keras.layers.Conv2D):
    """Convolutions over images of an ensemble, which share a kernel.

        outputs = activation(sum over r(convolution(inputs * alpha[r, k], kernel)
                                        * gamma[r, k]) + bias[k])

    with alpha for the channels of the inputs and gamma for the filters. Otherwise as
    `DenseBatchEnsemble`.

    Inputs: [ensemble_size * examples, height, width, channels].

    Source: Wen et al., 2020, BatchEnsemble, section 3.

    Args: as in `tf.keras.layers.Conv2D` and `DenseBatchEnsemble`.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> layer = ed.layers.Conv2DBatchEnsemble(4, 3, rank=2, ensemble_size=2)
        >>> layer(tf.ones([6, 9, 9, 3])).shape, layer.gamma.shape
        (TensorShape([6, 7, 7, 4]), TensorShape([2, 2, 4]))
    """


@register
@takes(
    tf.keras.layers.DepthwiseConv2D,
    without=["dilation_rate"],
    after_kernel_size={"ensemble_size": 4, **VECTORS},
)
class DepthwiseConv2DBatchEnsemble(MemberLayer, Depthwise, tf.keras.layers.DepthwiseConv2D):
    """Depthwise convolutions over images of an ensemble, which share a kernel.

    As `Conv2DBatchEnsemble`, with the depthwise convolution of Keras and one pair of
    vectors a member. Its kernel is `depthwise_kernel`.

    Inputs: [ensemble_size * examples, height, width, channels].

    Source: Wen et al., 2020, BatchEnsemble, section 3.

    Args: as in `tf.keras.layers.DepthwiseConv2D` and `DenseBatchEnsemble`.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> layer = ed.layers.DepthwiseConv2DBatchEnsemble(3, ensemble_size=2)
        >>> layer(tf.ones([6, 9, 9, 3])).shape
        TensorShape([6, 7, 7, 3])
    """
