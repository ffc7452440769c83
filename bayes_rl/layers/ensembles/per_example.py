"""Convolutions over images with a kernel of its own for each example."""

import dataclasses

import tensorflow as tf

from bayes_rl.layers.products import sizes


@tf.autograph.experimental.do_not_convert
def convolve_each(inputs, kernels, strides=(1, 1), padding="valid", dilation=(1, 1)):
    """Convolution of each example with its kernel.

    The windows are products of matrices, so that any batch size is one call.

    Args:
        inputs: [N, height, width, channels].
        kernels: [N, rows, columns, channels, filters].
        strides: of the window.
        padding: "valid" or "same".
        dilation: distance of the kernel's elements.

    Returns:
        [N, new height, new width, filters].

    Example:
        >>> convolve_each(tf.ones([2, 5, 5, 3]), tf.ones([2, 3, 3, 3, 4])).shape
        TensorShape([2, 3, 3, 4])
    """
    views = _windows(inputs, kernels.shape[1:3], strides, padding, dilation)
    batch, height, width, channels = sizes(views[0])
    columns = len(views) * channels
    windows = tf.reshape(tf.concat(views, axis=-1), [batch, height * width, columns])
    filters = kernels.shape[-1]
    outputs = tf.matmul(windows, tf.reshape(kernels, [-1, columns, filters]))
    return tf.reshape(outputs, [batch, height, width, filters])


@tf.autograph.experimental.do_not_convert
def convolve_channels_of_each(
    inputs, kernels, strides=(1, 1), padding="valid", dilation=(1, 1)
):
    """Depthwise convolution of each example with its kernel.

    Args:
        inputs: [N, height, width, channels].
        kernels: [N, rows, columns, channels, multiplier].
        strides: of the window.
        padding: "valid" or "same".
        dilation: distance of the kernel's elements.

    Returns:
        [N, new height, new width, channels * multiplier].

    Example:
        >>> kernels = tf.ones([2, 3, 3, 3, 4])
        >>> convolve_channels_of_each(tf.ones([2, 5, 5, 3]), kernels).shape
        TensorShape([2, 3, 3, 12])
    """
    views = _windows(inputs, kernels.shape[1:3], strides, padding, dilation)
    *space, channels, multiplier = kernels.shape[1:]
    elements = tf.reshape(kernels, [-1, 1, 1, space[0] * space[1], channels, multiplier])
    elements = tf.unstack(elements, axis=3)
    products = (
        view[..., tf.newaxis] * element
        for view, element in zip(views, elements, strict=True)
    )
    shape = sizes(views[0])
    return tf.reshape(sum(products), [*shape[:-1], channels * multiplier])


def _windows(inputs, kernel_size, strides, padding, dilation):
    """What each element of a kernel sees, rows * columns tensors."""
    spans = [
        _span(*axis, padding)
        for axis in zip(sizes(inputs)[1:3], kernel_size, strides, dilation, strict=True)
    ]
    pads = [[span.before, span.after] for span in spans]
    if padding == "same":
        inputs = tf.pad(inputs, [[0, 0], *pads, [0, 0]])
    rows, columns = (span.slices for span in spans)
    return [inputs[:, row, column] for row in rows for column in columns]


@dataclasses.dataclass(frozen=True)
class _Span:
    """One axis of space: its padding and, for each element, the slice that it sees."""

    before: int | tf.Tensor
    after: int | tf.Tensor
    slices: list


def _span(size, kernel_size, stride, dilation, padding):
    extent = (kernel_size - 1) * dilation + 1
    if padding == "same":
        count = (size + stride - 1) // stride
        missing = (count - 1) * stride + extent - size
        total = tf.maximum(missing, 0) if tf.is_tensor(missing) else max(missing, 0)
    else:
        count, total = (size - extent) // stride + 1, 0
    length = (count - 1) * stride + 1
    starts = [element * dilation for element in range(kernel_size)]
    slices = [slice(start, start + length, stride) for start in starts]
    return _Span(total // 2, total - total // 2, slices)
