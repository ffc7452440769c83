"""Heads of a multi-input multi-output network."""

import tensorflow as tf

from bayes_rl import checks
from bayes_rl.layers import products
from bayes_rl.layers.base import takes
from bayes_rl.layers.dense import DenseReparameterization
from bayes_rl.serialization import register


@register
@takes(tf.keras.layers.Dense, after_units={"ensemble_size": 1})
class DenseMultihead(DenseReparameterization):
    """Dense layer with outputs for each member of an ensemble.

        outputs[..., k, :] = activation(inputs @ kernel[:, k] + bias[k])

    Source: Havasi et al., 2021, Training Independent Subnetworks for Robust Prediction,
    section 2.

    Args:
        units: number of outputs of a member, at least 1.
        ensemble_size: number of members.
        activation: of the outputs of each member, [..., ensemble_size, units].
        use_bias: whether to add a bias, [ensemble_size * units].
        kernel_initializer: of the kernel, [features, ensemble_size * units]; a posterior is
            drawn once a call. All others are as in `tf.keras.layers.Dense`.

    Raises:
        ValueError: `units` or `ensemble_size` is below 1, or an initializer or regularizer
            is unknown.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> layer = ed.layers.DenseMultihead(4, ensemble_size=2, activation="softmax")
        >>> layer(tf.ones([6, 3])).shape
        TensorShape([6, 2, 4])
    """

    own_arguments = ("ensemble_size",)

    def __init__(self, *, units, ensemble_size, **kwargs):
        checks.at_least_1(units=units, ensemble_size=ensemble_size)
        units *= ensemble_size
        super().__init__(units=units, ensemble_size=ensemble_size, **kwargs)

    def finish(self, outputs):
        """Bias, axis of the members and activation."""
        outputs = products.finish(outputs, self.draw("bias") if self.use_bias else None)
        outputs = tf.reshape(outputs, [*products.sizes(outputs)[:-1], *self._heads()])
        return outputs if self.activation is None else self.activation(outputs)

    def compute_output_shape(self, input_shape):
        """[..., ensemble_size, units]."""
        return tf.TensorShape(input_shape)[:-1] + self._heads()

    def _heads(self):
        return [self.ensemble_size, self.units // self.ensemble_size]

    def get_config(self):
        return {**super().get_config(), "units": self._heads()[1]}
