"""Noise that is the same for the same seed on every device, with and without XLA."""

import functools
import math
import numbers
import statistics

import numpy as np
import tensorflow as tf

from bayes_rl.numerics.fused import fused


def as_seed(seed):
    """Stateless seed from what a caller may give.

    Args:
        seed: two ints or an integer tensor [2], or one int or integer tensor []; None for
            a new seed from TensorFlow's global generator.

    Returns:
        Integer tensor [2].

    Raises:
        ValueError: `seed` is malformed.

    Example:
        >>> as_seed(3).numpy()
        array([0, 3])
    """
    if seed is None:
        limits = tf.int32.limits
        return tf.random.uniform([2], *limits, dtype=tf.int32)
    if isinstance(seed, numbers.Integral):
        seed = (0, seed)
    elif tf.is_tensor(seed) and seed.shape.rank == 0 and seed.dtype.is_integer:
        seed = tf.stack([tf.zeros_like(seed), seed])
    try:
        found = tf.convert_to_tensor(seed, getattr(seed, "dtype", tf.int64))
        is_seed = found.dtype.is_integer and found.shape.is_compatible_with([2])
    except (TypeError, ValueError):
        is_seed = False
    if not is_seed:
        raise ValueError(f"seed must be two integers, or one, got {seed!r}")
    return found


def stateless_centered(shape, seed, dtype=tf.float32):
    """Uniform draws between -1/2 and 1/2 that do not depend on device or compiler.

    TensorFlow's own stateless floats differ between its kernels and XLA even with the same
    algorithm; its integers do not, and these are mapped from integers.

    Args:
        shape: of the draws.
        seed: int tensor [2].
        dtype: float32 or float64.

    Returns:
        [*shape], never -1/2, 0 or 1/2.

    Example:
        >>> stateless_centered([2], [1, 2]).shape
        TensorShape([2])
    """
    dtype = tf.as_dtype(dtype)
    integer, total, kept = (tf.int64, 64, 52) if dtype == tf.float64 else (tf.int32, 32, 23)
    bits = tf.random.stateless_uniform(
        shape, seed, minval=None, maxval=None, dtype=integer, alg="philox"
    )
    # One bit less than the mantissa has, so that no probability is rounded to 0 or 1.
    bits = tf.bitwise.right_shift(bits, tf.cast(total - kept, integer))
    return (tf.cast(bits, dtype) + 0.5) * 2.0**-kept


def stateless_normal(shape, seed, dtype=tf.float32):
    """Standard normal draws that do not depend on device or compiler.

        draw = inverse of the normal distribution function (uniform draw)

    Args:
        shape: of the draws.
        seed: int tensor [2].
        dtype: float32 or float64.

    Returns:
        [*shape], at most 5.3 (float32) from 0.

    Example:
        >>> stateless_normal([2], [1, 2]).shape
        TensorShape([2])
    """
    return tf.math.ndtri(stateless_centered(shape, seed, dtype) + 0.5)


_LEVELS = 2**16
_BITS = 32  # of an integer


def quantized_normal(shape, seed, dtype=tf.float32):
    """Draws of 65536 equally likely values that stand for a standard normal.

    The values are the means of equal slices of the normal distribution, scaled to variance
    1; the fourth moment is 2.9998. A table costs less than a function.

    Args:
        shape: static, of the draws.
        seed: int32 tensor [2].
        dtype: float32 or float64.

    Returns:
        [*shape], at most 4.4 from 0.

    Example:
        >>> quantized_normal([3], tf.constant([1, 2])).shape
        TensorShape([3])
    """
    counter = tf.cast(tf.reshape(tf.range(math.prod(shape)), shape), tf.uint32)
    bits, _ = threefry(counter, tf.zeros_like(counter), tf.bitcast(seed, tf.uint32))
    return normal_of_bits(bits, dtype)


def normal_of_bits(bits, dtype=tf.float32):
    """The value of `quantized_normal` that random bits stand for.

    Args:
        bits: uint32, [...].
        dtype: float32 or float64.

    Returns:
        [...].

    Example:
        >>> normal_of_bits(tf.constant([2**31 - 1, 2**31], tf.uint32)).numpy().round(4)
        array([-0.,  0.], dtype=float32)
    """
    index = tf.cast(tf.bitwise.right_shift(bits, 16), tf.int32)
    return tf.gather(tf.constant(_normal_levels(), dtype), index)


def threefry(first, second, key):
    """Random bits of counters: Threefry with two words of 32 bits and 20 rounds.

    Compiled, this takes half of the time of philox: each element is computed on its own,
    together with what it is used for. TensorFlow's own has no kernel for CPUs, which
    `tf.vectorized_map` and eager mode need.

    Source: Salmon et al., 2011, Parallel Random Numbers: As Easy as 1, 2, 3.

    Args:
        first: uint32, a word of the counters, no two of which should be equal.
        second: uint32 of the same shape, the other word.
        key: uint32 [2].

    Returns:
        Two uint32 tensors of the shape of the counters.

    Example:
        >>> zeros = tf.zeros([3], tf.uint32)
        >>> [hex(word[0]) for word in threefry(zeros, zeros, zeros[:2])]
        ['0x6b200159', '0x99ba4efe']
    """
    xor = tf.bitwise.bitwise_xor
    keys = tf.unstack(key)
    keys.append(xor(xor(keys[0], keys[1]), 0x1BD11BDA))
    first, second = first + keys[0], second + keys[1]
    for group in range(1, 6):
        for distance in (17, 29, 16, 24) if group % 2 == 0 else (13, 15, 26, 6):
            first += second
            second = xor(_rotate(second, distance), first)
        first += keys[group % 3]
        second += keys[(group + 1) % 3] + group
    return first, second


def _rotate(bits, distance):
    left = tf.bitwise.left_shift(bits, distance)
    return tf.bitwise.bitwise_or(left, tf.bitwise.right_shift(bits, _BITS - distance))


@functools.cache
def _normal_levels():
    """[65536] mean of each slice between quantiles, [-density] / probability."""
    normal = statistics.NormalDist()
    inner = [normal.inv_cdf(i / _LEVELS) for i in range(1, _LEVELS)]
    density = np.exp(-0.5 * np.square(inner)) / np.sqrt(2 * np.pi)
    means = -np.diff(np.concatenate([[0.0], density, [0.0]])) * _LEVELS
    return means / means.std()


def rademacher(shape, seed=None, dtype=tf.float32):
    """Independent random signs.

    Args:
        shape: of the signs.
        seed: stateless seed, int tensor [2]; None for TensorFlow's global generator.
        dtype: of the signs.

    Returns:
        [*shape], each -1 or 1 with probability 1/2.

    Example:
        >>> signs = rademacher([100], seed=[1, 2])
        >>> sorted(set(signs.numpy().tolist()))
        [-1.0, 1.0]
    """
    if seed is None:
        return _random_signs(shape, dtype)
    bits = tf.random.stateless_uniform(
        shape, seed, minval=0, maxval=2, dtype=tf.int32, alg="philox"
    )
    return tf.cast(2 * bits - 1, dtype)


def _random_signs(shape, dtype):
    """Signs [*shape], 32 of the last axis from one random integer."""
    *leading, size = tf.unstack(shape) if tf.is_tensor(shape) else list(shape)
    words = -(-size // _BITS)
    bits = tf.random.uniform([*leading, words], tf.int32.min, tf.int32.max, tf.int32)
    signs = _signs_of_bits(bits, dtype=dtype)
    is_whole = not tf.is_tensor(size) and size % _BITS == 0
    return signs if is_whole else signs[..., :size]


@functools.partial(fused, growth=_BITS)
def _signs_of_bits(integers, dtype):
    """[..., words] integers to [..., 32 * words] signs."""
    bits = tf.bitwise.left_shift(integers[..., tf.newaxis], tf.range(_BITS))
    signs = tf.where(bits < 0, tf.constant(-1, dtype), tf.constant(1, dtype))
    return tf.reshape(signs, tf.concat([tf.shape(integers)[:-1], [-1]], axis=0))
