"""Elementwise computations on large tensors, in one pass over memory.

TensorFlow's own kernels pass over memory once an operation. On a CPU, noise and KL of a
layer's kernel then cost more than its matrix product; compiled by XLA, a third of that.
"""

import functools
import math

import tensorflow as tf

# Below, a call of compiled code costs more than it saves.
_LEAST_ELEMENTS = 2**16


def is_fused(tensor):
    """Whether computations with this tensor are compiled: it is large, on no GPU."""
    return math.prod(tensor.shape) >= _LEAST_ELEMENTS and not _has_gpu()


@functools.cache
def _has_gpu():
    return bool(tf.config.list_logical_devices("GPU"))


def fused(function):
    """Compiles a function of tensors where the first one `is_fused`.

    Args:
        function: of tensors alone, to tensors; it reads no variables.

    Returns:
        A function of the same arguments and results.

    Example:
        >>> double = fused(lambda x: 2.0 * x)
        >>> float(double(tf.ones([300, 300]))[0, 0])
        2.0
    """

    @functools.lru_cache(maxsize=256)
    def compiled(signature):
        # One function for all signatures would warn of being traced again and again.
        del signature
        return tf.function(function, jit_compile=True, autograph=False)

    @functools.wraps(function)
    def call(*tensors):
        if not is_fused(tensors[0]):
            return function(*tensors)
        signature = tuple((tuple(x.shape), x.dtype) for x in tensors)
        return compiled(signature)(*tensors)

    return call
