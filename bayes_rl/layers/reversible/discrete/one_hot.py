"""Arithmetic modulo the vocabulary size on one-hot vectors, differentiable.

Integers 0 to vocab - 1 are one-hot vectors [..., vocab]; each operation is linear in each
of its arguments, so gradients reach both.
"""

import math

import numpy as np
import tensorflow as tf


def one_hot_argmax(inputs, temperature, axis=-1):
    """One-hot vector of the largest input, with the gradient of a softmax.

        outputs = one_hot(argmax(inputs));  gradient as of softmax(inputs / temperature)

    Source: Bengio et al., 2013, Estimating or Propagating Gradients Through Stochastic
    Neurons; Tran et al., 2019, Discrete Flows, section 3.3.

    Args:
        inputs: floating tensor.
        temperature: of the softmax, above 0.
        axis: of the vectors.

    Returns:
        Tensor of the shape of the inputs, 0 or 1.

    Example:
        >>> one_hot_argmax(tf.constant([1.0, 3.0, 2.0]), 1.0).numpy().tolist()
        [0.0, 1.0, 0.0]
    """
    inputs = tf.convert_to_tensor(inputs)
    hard = tf.one_hot(
        tf.argmax(inputs, axis), inputs.shape[axis], axis=axis, dtype=inputs.dtype
    )
    soft = tf.nn.softmax(inputs / tf.cast(temperature, inputs.dtype), axis)
    return hard + (soft - tf.stop_gradient(soft))


def one_hot_add(inputs, shift):
    """Sum modulo the vocabulary size: circular convolution.

    Args:
        inputs: [..., vocab].
        shift: [..., vocab].

    Returns:
        [..., vocab], exact up to rounding.

    Example:
        >>> total = one_hot_add(tf.one_hot(3, 5), tf.one_hot(4, 5))
        >>> int(tf.argmax(total))
        2
    """
    return _convolve(inputs, shift, lambda spectrum: spectrum)


def one_hot_minus(inputs, shift):
    """Difference modulo the vocabulary size: circular correlation.

    Args and returns: as in `one_hot_add`.

    Example:
        >>> difference = one_hot_minus(tf.one_hot(3, 5), tf.one_hot(4, 5))
        >>> int(tf.argmax(difference))
        4
    """
    return _convolve(inputs, shift, tf.math.conj)


def _convolve(inputs, shift, change):
    inputs = tf.convert_to_tensor(inputs)
    dtype = inputs.dtype if inputs.dtype == tf.float64 else tf.float32
    real = [tf.cast(x, dtype) for x in (inputs, shift)]
    # The gradient of a cast to complex numbers warns of what it discards.
    first, second = (tf.signal.fft(tf.complex(x, tf.zeros_like(x))) for x in real)
    return tf.cast(tf.math.real(tf.signal.ifft(first * change(second))), inputs.dtype)


def one_hot_multiply(inputs, scale):
    """Product modulo the vocabulary size; needs vocab^2 numbers a vector.

    Args and returns: as in `one_hot_add`.

    Example:
        >>> product = one_hot_multiply(tf.one_hot(3, 5), tf.one_hot(4, 5))
        >>> int(tf.argmax(product))
        2
    """
    inputs = tf.convert_to_tensor(inputs)
    vocab = inputs.shape[-1]
    products = np.outer(np.arange(vocab), np.arange(vocab)) % vocab
    pairs = inputs[..., :, None] * tf.cast(scale, inputs.dtype)[..., None, :]
    flat = tf.reshape(pairs, [-1, vocab**2])
    sums = tf.math.unsorted_segment_sum(tf.transpose(flat), products.ravel(), vocab)
    return tf.reshape(tf.transpose(sums), tf.shape(pairs)[:-1])


def py_multiplicative_inverse(a, n):
    """Multiplicative inverse of an integer modulo another.

    Args:
        a: int.
        n: int, at least 1.

    Returns:
        The int b in 0 to n - 1 with a b = 1 modulo n.

    Raises:
        ValueError: a and n have a common divisor.

    Example:
        >>> py_multiplicative_inverse(3, 7)
        5
    """
    a, n = int(a), int(n)
    if math.gcd(a, n) != 1:
        raise ValueError(
            f"{a} has no inverse modulo {n}: both are multiples of {math.gcd(a, n)}"
        )
    return pow(a, -1, n)


def multiplicative_inverse(a, n):
    """Multiplicative inverse of one-hot integers modulo n.

    The inverses of all integers are a table, so that it works under XLA and has gradients.

    Args:
        a: [..., vocab], one-hot.
        n: int, at most vocab; a tensor must be constant.

    Returns:
        [..., vocab], one-hot; all 0 for integers without an inverse.

    Raises:
        ValueError: n is not known or above vocab.

    Example:
        >>> int(tf.argmax(multiplicative_inverse(tf.one_hot(3, 7), 7)))
        5
    """
    a = tf.convert_to_tensor(a)
    vocab, modulus = a.shape[-1], tf.get_static_value(n) if tf.is_tensor(n) else n
    if modulus is None or modulus > vocab:
        raise ValueError(f"n must be a known integer up to {vocab}, got {modulus}")
    units = np.zeros(vocab, bool)
    units[coprimes(modulus)] = True
    # The table is its own inverse, so what gathers also scatters.
    table = [py_multiplicative_inverse(k, modulus) if units[k] else k for k in range(vocab)]
    return tf.gather(a, table, axis=-1) * tf.cast(units, a.dtype)


def coprimes(n):
    """Integers 0 to n - 1 that have an inverse modulo n, as an array."""
    return np.array([k for k in range(int(n)) if math.gcd(k, int(n)) == 1])
