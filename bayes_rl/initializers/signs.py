"""Random signs."""

import tensorflow as tf

from bayes_rl.serialization import register


@register
class RandomSign(tf.keras.initializers.Initializer):
    """Initial values 1 with probability `probs`, else -1.

    Source: Wen et al., 2020, BatchEnsemble, section 3.1 (fast weights).

    Args:
        probs: probability of 1, between 0 and 1.
        seed: int; with it every call gives the same values.
        dtype: of the values, where the call names none.

    Raises:
        ValueError: `probs` is no probability.

    Example:
        >>> sorted(set(RandomSign(0.5, seed=1)([100]).numpy().tolist()))
        [-1.0, 1.0]
    """

    def __init__(self, probs=1.0, seed=None, dtype=tf.float32):
        if not 0 <= probs <= 1:
            raise ValueError(f"probs must be between 0 and 1, got {probs}")
        self.probs = probs
        self.seed = seed
        self.dtype = tf.as_dtype(dtype)

    def __call__(self, shape, dtype=None, **kwargs):
        """Signs [*shape]."""
        del kwargs
        uniform = tf.keras.initializers.RandomUniform(0.0, 1.0, self.seed)(shape)
        return tf.cast(tf.where(uniform < self.probs, 1, -1), dtype or self.dtype)
