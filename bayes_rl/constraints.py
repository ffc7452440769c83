"""Maps from an unconstrained variable to a positive parameter.

Trainable initializers apply them whenever the parameter is used, in contrast to Keras
constraints that project a variable after an update.
"""

import tensorflow as tf
import tensorflow_probability as tfp

from bayes_rl.serialization import deserialize, make_get, register, serialize

__all__ = ["Exp", "Positive", "Softplus", "deserialize", "get", "serialize"]


class _Positive(tf.keras.constraints.Constraint):
    def __init__(self, epsilon=1e-7):
        self.epsilon = epsilon


@register
class Exp(_Positive):
    """exp(w) + epsilon.

    Args:
        epsilon: least value.

    Example:
        >>> import tensorflow as tf
        >>> float(Exp(epsilon=0.5)(tf.constant(0.0)))
        1.5
    """

    def __call__(self, w):
        return tf.exp(w) + tf.cast(self.epsilon, w.dtype)

    def inverse(self, value):
        """The w that is mapped to `value`, which must be above epsilon."""
        return tf.math.log(value - tf.cast(self.epsilon, value.dtype))


@register
class Positive(_Positive):
    """max(w, epsilon).

    Below epsilon the gradient is 1 where descent then raises w, so that w comes back.

    Args:
        epsilon: least value.

    Example:
        >>> import tensorflow as tf
        >>> float(Positive(epsilon=0.5)(tf.constant(-1.0)))
        0.5
    """

    def __call__(self, w):
        least = tf.cast(self.epsilon, w.dtype)

        @tf.custom_gradient
        def clip(w):
            def gradient(upstream):
                passes = (w > least) | (upstream < 0)
                return tf.where(passes, upstream, tf.zeros_like(upstream))

            return tf.maximum(w, least), gradient

        return clip(w)

    def inverse(self, value):
        """The w that is mapped to `value`, which must be at least epsilon."""
        return value


@register
class Softplus(_Positive):
    """log(1 + exp(w)) + epsilon.

    Args:
        epsilon: least value.

    Example:
        >>> import tensorflow as tf
        >>> constraint = Softplus()
        >>> round(float(constraint(constraint.inverse(tf.constant(0.05)))), 6)
        0.05
    """

    def __call__(self, w):
        return tf.nn.softplus(w) + tf.cast(self.epsilon, w.dtype)

    def inverse(self, value):
        """The w that is mapped to `value`, which must be above epsilon."""
        return tfp.math.softplus_inverse(value - tf.cast(self.epsilon, value.dtype))


_aliases = {"exp": Exp, "positive": Positive, "softplus": Softplus}
globals().update(_aliases)

get = make_get(_aliases, tf.keras.constraints)
