"""Noise that is the same for the same seed on every device, with and without XLA."""

import functools
import math
import numbers
import statistics

import numpy as np
import tensorflow as tf

from bayes_rl.numerics.fused import fused


def as_seed(seed):
    """Stateless seed, an integer tensor [2], from what a caller may give.

    That is two ints or such a tensor, or one int or integer tensor []; None stands for a
    new seed from TensorFlow's global generator. A ValueError where it is none of these.
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

    They are never -1/2, 0 or 1/2. TensorFlow's own stateless floats differ between its
    kernels and XLA even with the same algorithm; its integers do not, and these are mapped
    from integers.
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

    In float32 they are at most 5.3 from 0.
    """
    return tf.math.ndtri(stateless_centered(shape, seed, dtype) + 0.5)


_LEVELS = 2**16
_BITS = 32  # of an integer


def quantized_normal(shape, seed, dtype=tf.float32):
    """Draws of 65536 equally likely values that stand for a standard normal.

    The values are the means of equal slices of the normal distribution, scaled to variance
    1; the fourth moment is 2.9998, and they are at most 4.4 from 0. A table costs less than
    a function. The shape is static, and the seed int32.
    """
    counter = tf.cast(tf.reshape(tf.range(math.prod(shape)), shape), tf.uint32)
    bits, _ = threefry(counter, tf.zeros_like(counter), tf.bitcast(seed, tf.uint32))
    return normal_of_bits(bits, dtype)


def normal_of_bits(bits, dtype=tf.float32):
    """The values of `quantized_normal` that random bits, uint32 [...], stand for."""
    index = tf.cast(tf.bitwise.right_shift(bits, 16), tf.int32)
    return tf.gather(tf.constant(_normal_levels(), dtype), index)


def threefry(first, second, key):
    """Random bits of counters: Threefry with two words of 32 bits and 20 rounds.

    All words are uint32: `first` and `second` of the counters, no two of which should be
    equal, the key [2], and the two that are returned. Compiled, this takes half of the time
    of philox: each element is computed on its own, together with what it is used for.
    TensorFlow's own has no kernel for CPUs, which `tf.vectorized_map` and eager mode need.

    Source: Salmon et al., 2011, Parallel Random Numbers: As Easy as 1, 2, 3.
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
    """Independent random signs; without a seed from TensorFlow's global generator."""
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
