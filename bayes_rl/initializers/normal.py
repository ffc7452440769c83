"""Normal posteriors over a weight."""

import tensorflow as tf
import tensorflow_probability as tfp
from tensorflow_probability import distributions as tfd

from bayes_rl import checks
from bayes_rl.initializers.start_values import ScaledNormalStdDev
from bayes_rl.initializers.trainable import TrainableInitializer
from bayes_rl.random_variables.columns import MultivariateNormalColumns
from bayes_rl.serialization import register

# Of a layer's weights at first, so narrow that a layer hardly differs from its plain twin.
# Wider, the noise hides what means could learn early, and they are drawn to the prior.
_NARROW = ScaledNormalStdDev(1e-3)


@register
class TrainableNormal(TrainableInitializer):
    """Normal posterior over a weight with trainable mean and stddev.

        weight ~ Normal(mean_constraint(mean), stddev_constraint(stddev))

    Source: Blundell et al., 2015, Weight Uncertainty in Neural Networks, section 3.2.

    Args:
        mean_initializer: of the variable `mean`; default: near 0.
        stddev_initializer: of the variable `stddev`, which is before the constraint;
            default: near -3, that is a stddev of about 0.05. `ScaledNormalStdDev` gives
            the stddev itself.
        mean_regularizer: Keras regularizer of the variable `mean`.
        stddev_regularizer: Keras regularizer of the variable `stddev`.
        mean_constraint: applied to the variable `mean` when it is used.
        stddev_constraint: applied to the variable `stddev` when it is used.
        seed: int; with it and the name of the weight, initial values are reproducible.
        **kwargs: of `tf.keras.layers.Layer`.

    Example:
        >>> import bayes_rl as ed
        >>> weight = ed.initializers.TrainableNormal(mean_initializer="zeros")([3, 2])
        >>> weight.shape, float(weight.mean()[0, 0])
        (TensorShape([3, 2]), 0.0)
    """

    parameter_names = ("mean", "stddev")

    def __init__(
        self,
        mean_initializer=None,
        stddev_initializer=None,
        mean_regularizer=None,
        stddev_regularizer=None,
        mean_constraint=None,
        stddev_constraint="softplus",
        seed=None,
        **kwargs,
    ):
        super().__init__(seed=seed, **kwargs)
        self._declare(locals())

    def _distribution(self):
        return tfd.Normal(*self.parameters())


@register
class TrainableHeNormal(TrainableNormal):
    """`TrainableNormal` with initial means of variance 2 / fan_in, for ReLU.

    Stddevs start at sqrt(0.001 / fan_in), see `ScaledNormalStdDev`.

    Source: He et al., 2015, Delving Deep into Rectifiers, equation 10.

    Args: those of `TrainableNormal`, by name.
    """

    starts = ("he_normal", _NARROW)

    def __init__(self, seed=None, **kwargs):
        super().__init__(seed=seed, **kwargs)


@register
class TrainableGlorotNormal(TrainableNormal):
    """`TrainableNormal` with initial means of variance 2 / (fan_in + fan_out).

    Stddevs start at sqrt(0.001 / fan_in), see `ScaledNormalStdDev`. The default of kernels.

    Source: Glorot and Bengio, 2010, Understanding the Difficulty of Training Deep
    Feedforward Neural Networks, equation 16.

    Args: those of `TrainableNormal`, by name.
    """

    starts = ("glorot_normal", _NARROW)

    def __init__(self, seed=None, **kwargs):
        super().__init__(seed=seed, **kwargs)


@register
class TrainableNormalSharedStddev(TrainableNormal):
    """`TrainableNormal` with one stddev for all elements of the weight.

    Args: as in `TrainableNormal`.

    Example:
        >>> initializer = TrainableNormalSharedStddev()
        >>> initializer.build([3, 2])
        >>> initializer.stddev.shape
        TensorShape([])
    """

    def _parameter_shape(self, name):
        return () if name == "stddev" else self.weight_shape


@register
class TrainableNormalFixedStddev(TrainableInitializer):
    """`TrainableNormal` whose stddev is given, not trained.

    Args:
        stddev: above 0.
        mean_initializer, mean_regularizer, mean_constraint, seed, **kwargs: as in
            `TrainableNormal`.

    Raises:
        ValueError: `stddev` is not above 0.

    Example:
        >>> weight = TrainableNormalFixedStddev(stddev=0.5)([3, 2])
        >>> float(weight.stddev()[0, 0])
        0.5
    """

    parameter_names = ("mean",)

    def __init__(
        self,
        stddev=1.0,
        mean_initializer=None,
        mean_regularizer=None,
        mean_constraint=None,
        seed=None,
        **kwargs,
    ):
        checks.above_0(stddev=stddev)
        super().__init__(seed=seed, **kwargs)
        self._declare(locals())
        self.stddev = float(stddev)

    def _distribution(self):
        (mean,) = self.parameters()
        return tfd.Normal(mean, tf.constant(self.stddev, mean.dtype))


@register
class TrainableMultivariateNormal(TrainableNormal):
    """Normal posterior over a matrix whose rows covary within each column.

        weight[:, column] ~ Normal(mean[:, column], scale scale^T), scale lower triangular

    The variable `stddev` [columns, rows (rows + 1) / 2] holds the scales as
    `tfp.math.fill_triangular` reads them; the constraint applies to their diagonals. They
    start diagonal, where `TrainableNormal` starts. As `inducing_outputs_initializer` of a
    sparse Gaussian process it makes the full covariance of q(u).

    Source: Hensman et al., 2013, Gaussian Processes for Big Data, section 3.1.

    Args: as in `TrainableNormal`, for weights of rank 2.

    Raises:
        ValueError: the weight is not a matrix.

    Example:
        >>> weight = TrainableMultivariateNormal()([5, 2])
        >>> weight.shape, weight.covariance().shape
        (TensorShape([5, 2]), TensorShape([2, 5, 5]))
    """

    def _parameter_shape(self, name):
        if len(self.weight_shape) != 2:
            raise ValueError(
                f"{type(self).__name__} takes weights [rows, columns], got "
                f"{self.weight_shape}"
            )
        rows, columns = self.weight_shape
        return (rows, columns) if name == "mean" else (columns, rows * (rows + 1) // 2)

    def _initial_value(self, name, shape, dtype=None, **kwargs):
        if name == "mean":
            return super()._initial_value(name, shape, dtype=dtype, **kwargs)
        rows, columns = self.weight_shape
        diagonal = super()._initial_value(name, [columns, rows], dtype=dtype, **kwargs)
        return tfp.math.fill_triangular_inverse(tf.linalg.diag(diagonal))

    def _parameter(self, name):
        if name == "mean":
            return super()._parameter(name)
        scale = tfp.math.fill_triangular(tf.convert_to_tensor(self.stddev))
        if self.stddev_constraint is None:
            return scale
        diagonal = self.stddev_constraint(tf.linalg.diag_part(scale))
        return tf.linalg.set_diag(scale, diagonal)

    def _distribution(self):
        mean, scale = self.parameters()
        return MultivariateNormalColumns(mean, scale_tril=scale)
