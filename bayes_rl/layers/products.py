"""Products of inputs with one kernel or with S kernels."""

import tensorflow as tf


@tf.autograph.experimental.do_not_convert
def dense(inputs, kernel):
    """Matrix product over the last axis of the inputs.

    Args:
        inputs: [..., features]; for S kernels [S, ..., features], or [N, features] to
            give the same inputs to each.
        kernel: [features, units], or [S, features, units] for S functions.

    Returns:
        [..., units]; for S kernels [S, ..., units].

    Raises:
        ValueError: the leading axis of the inputs is not that of the kernels.

    Example:
        >>> dense(tf.ones([5, 2, 7, 3]), tf.ones([5, 3, 4])).shape
        TensorShape([5, 2, 7, 4])
    """
    leading = kernel.shape.rank - 1
    _check_leading(inputs, kernel)
    if inputs.shape.rank in (2, leading + 1):
        return tf.matmul(inputs, kernel)
    shape = sizes(inputs)
    flat = tf.reshape(inputs, [*shape[: leading - 1], -1, shape[-1]])
    outputs = tf.matmul(flat, kernel)
    return tf.reshape(outputs, [*shape[:-1], kernel.shape[-1]])


def _check_leading(inputs, kernel):
    if kernel.shape.rank == 2 or inputs.shape.rank == 2:
        return
    if not inputs.shape[:1].is_compatible_with(kernel.shape[:1]):
        raise ValueError(
            f"{kernel.shape[0]} draws of the weights are held, so inputs must have shape "
            f"[{kernel.shape[0]}, ..., {kernel.shape[1]}], got {inputs.shape}"
        )


@tf.autograph.experimental.do_not_convert
def add_bias(outputs, bias):
    """Adds a bias [units], or S biases [S, units] to [S, ..., units]."""
    if bias.shape.rank == 1:
        return tf.nn.bias_add(outputs, bias)
    return outputs + align(bias, outputs)


def align(factors, tensor):
    """Adds axes before the last one, so that leading axes meet those of `tensor`.

    Args:
        factors: [*leading, size].
        tensor: [*leading, ..., size].

    Returns:
        [*leading, 1, ..., 1, size], of the rank of `tensor`.
    """
    missing = tensor.shape.rank - factors.shape.rank
    if missing <= 0:
        return factors
    shape = sizes(factors)
    return tf.reshape(factors, [*shape[:-1], *[1] * missing, shape[-1]])


def sizes(tensor):
    """Shape as a list, static where it is known."""
    static = tensor.shape.as_list()
    if None not in static:
        return static
    dynamic = tf.unstack(tf.shape(tensor))
    return [d if s is None else s for s, d in zip(static, dynamic, strict=True)]
