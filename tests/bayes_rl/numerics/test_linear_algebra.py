import numpy as np
import pytest
import tensorflow as tf

from bayes_rl.numerics.linear_algebra import double, solve_lower, stable_cholesky


def test_factor_is_that_of_the_matrix_with_jitter():
    matrix = np.array([[4.0, 2.0], [2.0, 3.0]])
    factor = stable_cholesky(tf.constant(matrix), 1e-3).numpy()
    np.testing.assert_allclose(factor, np.linalg.cholesky(matrix + 1e-3 * np.eye(2)))


@pytest.mark.parametrize("jit", [False, True])
def test_jitter_rises_only_for_matrices_that_need_it(jit):
    needy = np.diag([1.0, -3e-5])
    matrices = tf.constant(np.stack([np.eye(2), needy]))
    function = tf.function(stable_cholesky, jit_compile=jit)
    factors = function(matrices, tf.constant([1e-6, 1e-6], tf.float64)).numpy()
    shifts = (factors @ factors.transpose(0, 2, 1) - matrices)[:, 0, 0]
    np.testing.assert_allclose(shifts, [1e-6, 1e-4], rtol=1e-6)


def test_matrix_that_is_not_finite_ends_as_nan():
    assert np.all(np.isnan(stable_cholesky(np.nan * tf.eye(2), 1e-6).numpy()[1, 1]))


def test_gradient_is_that_of_the_factor():
    matrix = tf.constant([[4.0, 2.0], [2.0, 3.0]], tf.float64)
    with tf.GradientTape() as tape:
        tape.watch(matrix)
        log_determinant = 2 * tf.reduce_sum(
            tf.math.log(tf.linalg.diag_part(stable_cholesky(matrix, 1e-12)))
        )
    gradient = tape.gradient(log_determinant, matrix)
    np.testing.assert_allclose(gradient, np.linalg.inv(matrix), rtol=1e-9)


def test_solve_lower_broadcasts():
    factor = np.tril(np.ones([3, 3])) + np.eye(3)
    right = np.arange(12.0).reshape(2, 3, 2)
    np.testing.assert_allclose(
        factor @ solve_lower(tf.constant(factor), tf.constant(right)).numpy(), right
    )


def test_double_takes_variables():
    assert double(tf.Variable(1.0)).dtype == tf.float64
