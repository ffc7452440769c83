"""Normal posterior over a matrix with a full covariance for each column."""

import tensorflow as tf
import tensorflow_probability as tfp

from bayes_rl.columns import MultivariateNormalColumns
from bayes_rl.initializers.normal import TrainableNormal
from bayes_rl.serialization import register


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
