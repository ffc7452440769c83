"""Directions of random features that are orthogonal."""

import tensorflow as tf

from bayes_rl.initializers.seeding import seed_of
from bayes_rl.serialization import register


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
        if stddev <= 0:
            raise ValueError(f"stddev must be above 0, got {stddev}")
        self.stddev = stddev
        self.random_norm = random_norm
        self.seed = seed

    def __call__(self, shape, dtype=None, **kwargs):
        """Matrix [inputs, features].

        Raises:
            ValueError: `shape` has another number of axes than 2.
        """
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
