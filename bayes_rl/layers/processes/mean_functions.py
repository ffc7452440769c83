"""Mean functions of Gaussian processes."""

import tensorflow as tf

from bayes_rl.serialization import deserialize, register


@register
class Zeros:
    """Mean function that is 0 everywhere.

    Example:
        >>> Zeros()(tf.ones([2, 3])).numpy()
        array([0., 0.], dtype=float32)
    """

    def __call__(self, inputs):
        """Zeros for inputs.

        Args:
            inputs: [..., features].

        Returns:
            [...].
        """
        return tf.zeros(tf.shape(inputs)[:-1], inputs.dtype)

    def get_config(self):
        return {}

    @classmethod
    def from_config(cls, config):
        return cls(**config)


def get(identifier):
    """Mean function for a function, Keras layer, configuration, or None for `Zeros`."""
    if identifier is None:
        return Zeros()
    return deserialize(identifier) if isinstance(identifier, dict) else identifier
