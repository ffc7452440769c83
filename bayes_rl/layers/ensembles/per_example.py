"""Convolutions over images with a kernel of its own for each example."""

import math

import tensorflow as tf

from bayes_rl.layers.products import sizes


def convolve_each(inputs, kernels, strides, padding, dilation):
    """Convolution of each example [..., N, height, width, channels] with its kernel.

    Kernels are [..., N, rows, columns, channels, filters]. The windows are products of
    matrices, so that any batch size is one call.
    """
    windows = _windows(inputs, kernels.shape[-4:-2], strides, padding, dilation)
    return tf.einsum("...hwkc,...kcf->...hwf", windows, _elements(kernels))


def convolve_channels_of_each(inputs, kernels, strides, padding, dilation):
    """`convolve_each`, depthwise: filters are channels * multiplier."""
    windows = _windows(inputs, kernels.shape[-4:-2], strides, padding, dilation)
    outputs = tf.einsum("...hwkc,...kcm->...hwcm", windows, _elements(kernels))
    return tf.reshape(outputs, [*sizes(outputs)[:-2], math.prod(outputs.shape[-2:])])


def _elements(kernels):
    """Kernels [..., N, rows * columns, channels, filters]."""
    *batch, rows, columns, channels, filters = sizes(kernels)
    return tf.reshape(kernels, [*batch, rows * columns, channels, filters])


def _windows(inputs, kernel_size, strides, padding, dilation):
    """What elements of a kernel see, [..., N, height, width, rows * columns, channels]."""
    spans = [
        _span(*axis, padding)
        for axis in zip(sizes(inputs)[-3:-1], kernel_size, strides, dilation, strict=True)
    ]
    pads, (rows, columns) = zip(*spans, strict=True)
    if padding == "same":
        batch = [[0, 0]] * (inputs.shape.rank - 3)
        inputs = tf.pad(inputs, [*batch, *pads, [0, 0]])
    views = [inputs[..., row, column, :] for row in rows for column in columns]
    return tf.stack(views, axis=-2)


def _span(size, kernel_size, stride, dilation, padding):
    """Padding of an axis and, for each element of the kernel, the slice that it sees."""
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
    return [total // 2, total - total // 2], slices
