"""Initial standard deviations relative to the size of a layer."""

import math

import tensorflow as tf

from bayes_rl.serialization import register


@register
class ScaledNormalStdDev(tf.keras.initializers.Initializer):
    """Initial stddev of a posterior, relative to the size of the layer.

        stddev = sqrt(scale / fan)

    As `stddev_initializer` of a trainable initializer it gives the stddev itself: the
    variable starts at the constraint's inverse.

    Args:
        scale: above 0; the variance of a weight times fan.
        mode: "fan_in", "fan_out" or "fan_avg".
        distribution: "constant" for exactly this value, "untruncated_normal" for values
            spread by 10 per cent around it.
        seed: int, of the spread.

    Raises:
        ValueError: an argument is out of its range.

    Example:
        >>> initializer = ScaledNormalStdDev(scale=0.25, distribution="constant")
        >>> initializer([100, 2])[0].numpy()
        array([0.05, 0.05], dtype=float32)
    """

    modes = ("fan_in", "fan_out", "fan_avg")
    distributions = ("constant", "untruncated_normal")

    def __init__(
        self, scale=1.0, mode="fan_in", distribution="untruncated_normal", seed=None
    ):
        if scale <= 0:
            raise ValueError(f"scale must be above 0, got {scale}")
        if mode not in self.modes:
            raise ValueError(f"mode must be one of {self.modes}, got {mode!r}")
        if distribution not in self.distributions:
            raise ValueError(
                f"distribution must be one of {self.distributions}, got {distribution!r}"
            )
        self.scale = scale
        self.mode = mode
        self.distribution = distribution
        self.seed = seed

    def __call__(self, shape, dtype=None, fan_shape=None, **kwargs):
        """Initial values.

        Args:
            shape: of the values.
            dtype: floating type, default float32.
            fan_shape: shape of the weight where it is another one than `shape`.
            **kwargs: unused.

        Returns:
            [*shape], above 0.
        """
        del kwargs
        dtype = tf.as_dtype(dtype or tf.float32)
        center = math.sqrt(
            self.scale / self._fan(shape if fan_shape is None else fan_shape)
        )
        if self.distribution == "constant":
            return tf.fill(shape, tf.constant(center, dtype))
        spread = tf.keras.initializers.TruncatedNormal(center, 0.1 * center, self.seed)
        return spread(shape, dtype=dtype)

    def _fan(self, shape):
        shape = list(shape) or [1]
        receptive = math.prod(shape[:-2])
        fan_in = receptive * shape[max(len(shape) - 2, 0)]
        fan_out = receptive * shape[-1]
        fans = {"fan_in": fan_in, "fan_out": fan_out, "fan_avg": (fan_in + fan_out) / 2}
        return max(1, fans[self.mode])
