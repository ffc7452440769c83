"""Initial values: scaled to a layer, random signs, orthogonal directions, experts."""

import math

import tensorflow as tf

from bayes_rl import checks
from bayes_rl.initializers.seeding import fresh, seed_of
from bayes_rl.serialization import register


@register
class ScaledNormalStdDev(tf.keras.initializers.Initializer):
    """Initial stddev of a posterior, relative to the size of the layer.

        stddev = sqrt(scale / fan)

    As `stddev_initializer` of a trainable initializer it gives the stddev itself: the
    variable starts at the constraint's inverse, and without one at the stddev, an error if
    the constraint changes that.

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
        checks.above_0(scale=scale)
        checks.one_of(self.modes, mode=mode)
        checks.one_of(self.distributions, distribution=distribution)
        self.scale = scale
        self.mode = mode
        self.distribution = distribution
        self.seed = seed

    def __call__(self, shape, dtype=None, fan_shape=None, **kwargs):
        """Initial values [*shape]; `fan_shape` is the weight's, if that is another one."""
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


@register
class OrthogonalRandomFeatures(tf.keras.initializers.Initializer):
    """Directions of random Fourier features: normal, but orthogonal in blocks.

        matrix = stddev * [Q_1, Q_2, ...] * norms

    Each Q is a uniform orthogonal matrix [inputs, inputs]; the last one is cut. Each
    feature alone is distributed as a draw of Normal(0, stddev^2), but the kernel estimated
    from all has a lower variance.

    Source: Yu et al., 2016, Orthogonal Random Features, section 3.

    Args:
        stddev: of an element of the matrix, above 0.
        random_norm: whether norms are drawn, chi with `inputs` degrees of freedom;
            otherwise each is sqrt(inputs).
        seed: int; with it every call gives the same values.

    Raises:
        ValueError: `stddev` is not above 0.

    Example:
        >>> matrix = OrthogonalRandomFeatures(random_norm=False, seed=1)([2, 2])
        >>> (matrix @ tf.transpose(matrix)).numpy().round(4)
        array([[2., 0.],
               [0., 2.]], dtype=float32)
    """

    def __init__(self, stddev=1.0, random_norm=True, seed=None):
        checks.above_0(stddev=stddev)
        self.stddev = stddev
        self.random_norm = random_norm
        self.seed = seed

    def __call__(self, shape, dtype=None, **kwargs):
        """Matrix of a shape [inputs, features]; a ValueError where it has other axes."""
        del kwargs
        if len(shape) != 2:
            raise ValueError(f"shape must be [inputs, features], got {list(shape)}")
        inputs, features = shape
        dtype = tf.as_dtype(dtype or tf.float32)
        normal = self._normal([-(-features // inputs), inputs, inputs], "blocks", dtype)
        blocks, triangle = tf.linalg.qr(normal)
        # QR leaves the signs open; these make the blocks uniform (Mezzadri, 2007).
        blocks *= tf.sign(tf.linalg.diag_part(triangle))[:, None, :]
        matrix = tf.concat(tf.unstack(blocks), axis=1)[:, :features]
        return self.stddev * matrix * self._norms(inputs, features, dtype)

    def _norms(self, inputs, features, dtype):
        if not self.random_norm:
            return tf.sqrt(tf.cast(inputs, dtype))
        return tf.norm(self._normal([inputs, features], "norms", dtype), axis=0)

    def _normal(self, shape, scope, dtype):
        if self.seed is None:
            return tf.random.normal(shape, dtype=dtype)
        return tf.random.stateless_normal(
            shape, [0, seed_of(self.seed, scope)], dtype=dtype
        )


def get_condconv_initializer(initializer, num_experts, expert_shape):
    """Initializer of experts whose weights are the rows of one matrix.

    Each expert is drawn as a weight of `expert_shape`, so that fans are its own, and no two
    are alike. Of a trainable initializer these are the parameters' initial values.

    Source: Yang et al., 2019, CondConv: Conditionally Parameterized Convolutions for
    Efficient Inference.

    Args:
        initializer: Keras initializer, or a trainable one.
        num_experts: number of rows.
        expert_shape: shape of one expert's weight.

    Returns:
        Function `(shape, dtype=None)` to [num_experts, size of expert_shape]; a copy of a
        trainable initializer.

    Raises:
        ValueError: the function is asked for another shape.

    Example:
        >>> import tensorflow as tf
        >>> ones = tf.keras.initializers.Ones()
        >>> get_condconv_initializer(ones, 3, [2, 2])([3, 4]).shape
        TensorShape([3, 4])
    """
    if isinstance(initializer, tf.keras.layers.Layer):
        copy = fresh(initializer)
        copy.expert_shape = tuple(expert_shape)
        return copy
    expected = [num_experts, math.prod(expert_shape)]

    def initialize(shape, dtype=None, **kwargs):
        del kwargs
        if list(shape) != expected:
            raise ValueError(
                f"weights of {num_experts} experts of shape {list(expert_shape)} have "
                f"shape {expected}, got {list(shape)}"
            )
        rows = [
            _of_expert(initializer, expert)(expert_shape, dtype=dtype)
            for expert in range(num_experts)
        ]
        return tf.reshape(tf.stack(rows), expected)

    return initialize


def _of_expert(initializer, expert):
    copy = fresh(initializer)
    if getattr(copy, "seed", None) is None:
        return copy
    config = copy.get_config()
    return type(copy).from_config({**config, "seed": seed_of(copy.seed, expert)})
