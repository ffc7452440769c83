"""Permutation matrices from real matrices, differentiable."""

import numpy as np
import tensorflow as tf


def sinkhorn(inputs, n_iters=20):
    """Nearly doubly stochastic matrices by normalising rows and columns in turn.

    Source: Mena et al., 2018, Learning Latent Permutations with Gumbel-Sinkhorn Networks,
    equations 1 to 3.

    Args:
        inputs: [..., size, size], log weights.
        n_iters: number of turns.

    Returns:
        [..., size, size], above 0; columns sum to 1, rows nearly.

    Example:
        >>> matrix = sinkhorn(tf.random.stateless_normal([3, 3], [0, 1]))
        >>> bool(tf.reduce_all(abs(tf.reduce_sum(matrix, 0) - 1.0) < 1e-5))
        True
    """
    logits = tf.convert_to_tensor(inputs)
    for _ in range(n_iters):
        logits -= tf.reduce_logsumexp(logits, axis=-1, keepdims=True)
        logits -= tf.reduce_logsumexp(logits, axis=-2, keepdims=True)
    return tf.exp(logits)


def soft_to_hard_permutation(inputs):
    """Permutation matrices of largest total weight, with the gradient of the inputs.

        outputs = argmax over permutations P of sum(P * inputs)

    SciPy's matching finds it on the host: it does not compile under XLA. No other layer
    needs SciPy, so it is imported here, and installed by `bayes_rl[agents]`.

    Source: Mena et al., 2018, Learning Latent Permutations with Gumbel-Sinkhorn Networks,
    equation 2; Tran et al., 2019, Discrete Flows.

    Args:
        inputs: [..., size, size], such as `sinkhorn` gives.

    Returns:
        [..., size, size], 0 or 1.

    Raises:
        ImportError: SciPy is not installed.

    Example:
        >>> soft = tf.constant([[0.4, 0.6], [0.1, 0.9]])
        >>> soft_to_hard_permutation(soft).numpy().tolist()
        [[1.0, 0.0], [0.0, 1.0]]
    """
    from scipy.optimize import linear_sum_assignment

    inputs = tf.convert_to_tensor(inputs)
    columns = tf.numpy_function(
        lambda matrices: _match(matrices, linear_sum_assignment),
        [tf.cast(inputs, tf.float64)],
        tf.int64,
        stateful=False,
    )
    columns = tf.ensure_shape(columns, inputs.shape[:-1])
    hard = tf.one_hot(columns, inputs.shape[-1], dtype=inputs.dtype)
    return hard + (inputs - tf.stop_gradient(inputs))


def _match(matrices, linear_sum_assignment):
    flat = matrices.reshape(-1, *matrices.shape[-2:])
    found = [linear_sum_assignment(matrix, maximize=True)[1] for matrix in flat]
    return np.array(found, np.int64).reshape(matrices.shape[:-1])
