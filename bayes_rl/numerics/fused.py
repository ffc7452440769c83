"""Elementwise computations on large tensors, in one pass over memory.

TensorFlow's own kernels pass over memory once an operation. On a CPU, noise and KL of a
layer's kernel then cost more than its matrix product; compiled by XLA, a third of that.
"""

import functools

import tensorflow as tf

# Below, a call of compiled code costs more than it saves.
_LEAST_ELEMENTS = 2**16


def is_fused(tensor, growth=1):
    """Whether computations with this tensor are compiled: they are large, on no GPU.

    Args:
        tensor: that the computation starts from.
        growth: number of elements computed of each of the tensor's.
    """
    size = tensor.shape.num_elements()
    return size is not None and growth * size >= _LEAST_ELEMENTS and not _has_gpu()


@functools.cache
def _has_gpu():
    return bool(tf.config.list_logical_devices("GPU"))


def fused(function, growth=1):
    """Compiles a function of tensors where the first one `is_fused`.

    Args:
        function: of tensors and, by keyword, of constants, to tensors; it reads no
            variables.
        growth: as in `is_fused`.

    Returns:
        A function of the same arguments and results, compiled for each set of constants.

    Example:
        >>> times = fused(lambda x, factor: factor * x)
        >>> float(times(tf.ones([300, 300]), factor=2.0)[0, 0])
        2.0
    """

    @functools.lru_cache(maxsize=256)
    def compiled(signature, **constants):
        # One function for all signatures would warn of being traced again and again.
        del signature

        def of_tensors(*tensors):
            return function(*tensors, **constants)

        return tf.function(of_tensors, jit_compile=True, autograph=False)

    @functools.wraps(function)
    def call(*tensors, **constants):
        if not is_fused(tensors[0], growth):
            return function(*tensors, **constants)
        signature = tuple((x.shape, x.dtype) for x in tensors)
        return compiled(signature, **constants)(*tensors)

    return call
