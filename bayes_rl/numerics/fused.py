"""Elementwise computations on large tensors, in one pass over memory.

TensorFlow's own kernels pass over memory once an operation. On a CPU, noise and KL of a
layer's kernel then cost more than its matrix product; compiled by XLA, a third of that.
"""

import functools

import tensorflow as tf

# Below, a call of compiled code costs more than it saves.
_LEAST_ELEMENTS = 2**16


def is_fused(tensor, growth=1):
    """Whether computations from this tensor are compiled: they are large, on no GPU.

    `growth` is the number of elements that are computed of each of the tensor's.
    """
    size = tensor.shape.num_elements()
    return size is not None and growth * size >= _LEAST_ELEMENTS and not _has_gpu()


@functools.cache
def _has_gpu():
    return bool(tf.config.list_logical_devices("GPU"))


def fused(function, growth=1):
    """Compiles a function of tensors where the first one `is_fused`.

    It reads no variables, and takes constants by keyword; for each set of them it is
    compiled anew.
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
