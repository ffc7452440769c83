"""Sinkhorn flow: permutes the categories of each position by those before it."""

import numpy as np
import tensorflow as tf

from bayes_rl.layers.reversible.discrete.discrete_flows import DiscreteCoupling
from bayes_rl.serialization import register


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


@register
class SinkhornAutoregressiveFlow(DiscreteCoupling):
    """Permutes the vocabulary at each position by the categories before it.

        y[k] = P[k] x[k]
        P[k] = permutation nearest to sinkhorn(network(y)[k] / temperature)

    Gradients are those of the Sinkhorn matrix. `reverse` is one pass, `call` one a
    position. The nearest permutation is SciPy's matching on the host: no XLA, no TPU. To
    train it, see `DiscreteAutoregressiveFlow`.

    Source: Tran et al., 2019, Discrete Flows: Invertible Generative Models of Discrete
    Data; Mena et al., 2018, Learning Latent Permutations with Gumbel-Sinkhorn Networks.

    Args:
        layer: autoregressive network, left to right or with `input_degrees`, from
            [..., length, vocab] to [..., length, vocab^2], such as `MADE(vocab**2, [64])`.
        temperature: of the Sinkhorn matrices, above 0.
        **kwargs: of `tf.keras.layers.Layer`.

    Raises:
        ValueError: `temperature` is not above 0, or the network gives another number of
            units.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> flow = ed.layers.SinkhornAutoregressiveFlow(ed.layers.MADE(25, [16]), 1.0)
        >>> flow(tf.one_hot([[0, 1, 2]], 5)).shape
        TensorShape([1, 3, 5])
    """

    def __init__(self, layer, temperature, **kwargs):
        super().__init__(layer, None, temperature, **kwargs)

    def _parameters(self, network_outputs, tensor):
        vocab = tensor.shape[-1]
        if network_outputs.shape[-1] != vocab**2:
            raise ValueError(
                f"network of {self.name!r} must give {vocab} * {vocab} units, got "
                f"{network_outputs.shape[-1]}"
            )
        shape = tf.concat([tf.shape(network_outputs)[:-1], [vocab, vocab]], axis=0)
        logits = tf.reshape(network_outputs, shape)
        logits = tf.ensure_shape(logits, [*network_outputs.shape[:-1], vocab, vocab])
        soft = sinkhorn(logits / tf.cast(self.temperature, logits.dtype))
        return tf.cast(soft_to_hard_permutation(soft), tensor.dtype)

    def _change(self, inputs, parameters):
        return tf.linalg.matvec(parameters, inputs)

    def _change_back(self, outputs, parameters):
        return tf.linalg.matvec(parameters, outputs, transpose_a=True)
