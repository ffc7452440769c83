"""Linear algebra with covariance matrices, which are often close to singular."""

import tensorflow as tf


def double(tensor):
    """A tensor, variable or random variable in float64."""
    return tf.cast(tf.convert_to_tensor(tensor), tf.float64)


def stable_cholesky(matrix, jitter):
    """Lower triangular factor of covariance matrices [..., n, n].

        factor @ factor^T = matrix + 10^k jitter I

    with the least k = 0, 1, ..., 9 that makes it positive definite in floating point,
    chosen for each matrix; NaN where none does. Only the lower triangle of the matrix is
    read; `jitter` [...] is a small part of a typical variance.
    """
    jitter = tf.broadcast_to(tf.cast(jitter, matrix.dtype), tf.shape(matrix)[:-2])
    # The choice is a constant to gradients, so no loop is differentiated.
    level = _sufficient_jitter(tf.stop_gradient(matrix), jitter)
    level = tf.stop_gradient(level)
    return tf.linalg.cholesky(_shifted(matrix, level))


def _shifted(matrix, jitter):
    diagonal = tf.linalg.diag_part(matrix)
    return tf.linalg.set_diag(matrix, diagonal + jitter[..., tf.newaxis])


def _sufficient_jitter(matrix, jitter):
    def fails(level):
        factor = tf.linalg.cholesky(_shifted(matrix, level))
        return tf.reduce_any(tf.math.is_nan(factor), axis=[-2, -1])

    def raised(level, failing):
        level = tf.where(failing, 10.0 * level, level)
        return level, fails(level)

    level, _ = tf.while_loop(
        lambda level, failing: tf.reduce_any(failing),
        raised,
        (jitter, fails(jitter)),
        maximum_iterations=9,
    )
    return level


def solve_lower(factor, right):
    """factor^-1 @ right for a lower triangular factor; leading axes broadcast."""
    return tf.linalg.LinearOperatorLowerTriangular(factor).solve(right)
