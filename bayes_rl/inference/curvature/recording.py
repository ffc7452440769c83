"""What layers with a kernel multiply: their inputs, and outputs before the activation."""

import contextlib

import tensorflow as tf

keras = tf.keras.layers


def has_factors(layer):
    """Whether the curvature of a layer's kernel is known as a Kronecker product."""
    if type(layer) is keras.Dense:
        return True
    return (
        type(layer) in (keras.Conv1D, keras.Conv2D)
        and layer.groups == 1
        and layer.data_format == "channels_last"
        and layer.padding in ("valid", "same")
    )


class Record:
    """What a layer, for which `has_factors` is true, multiplied in one pass of a model."""

    def __init__(self, layer):
        self.layer = layer
        self.inputs, self.outputs = [], []  # of each call

    def rows(self):
        """[N, rows, inputs (+ 1)], the rows that the kernel, and bias, multiply."""
        rows = [_examples(self._patches(x), x) for x in self.inputs]
        rows = tf.cast(tf.concat(rows, axis=1), tf.float32)
        if not self.layer.use_bias:
            return rows
        return tf.pad(rows, [[0, 0]] * 2 + [[0, 1]], constant_values=1.0)

    def joined(self, gradients):
        """[N, rows, units] of gradients by each of `outputs`."""
        parts = zip(gradients, self.inputs, strict=True)
        return tf.cast(tf.concat([_examples(g, x) for g, x in parts], axis=1), tf.float32)

    def _patches(self, inputs):
        layer = self.layer
        if isinstance(layer, keras.Dense):
            return inputs
        is_flat = isinstance(layer, keras.Conv1D)
        images = inputs[:, tf.newaxis] if is_flat else inputs
        sizes = [
            [1, *([1] if is_flat else []), *size, 1]
            for size in (layer.kernel_size, layer.strides, layer.dilation_rate)
        ]
        return tf.image.extract_patches(images, *sizes, layer.padding.upper())


def _examples(values, inputs):
    """[N, rows, last]."""
    return tf.reshape(values, [tf.shape(inputs)[0], -1, values.shape[-1]])


@contextlib.contextmanager
def recorded(layers):
    """Records calls of layers while it lasts; yields a list of `Record`."""
    records = [Record(layer) for layer in layers]
    kept = [layer.activation for layer in layers]
    for record in records:
        vars(record.layer)["call"] = _recording_call(record)
        vars(record.layer)["activation"] = _recording_activation(record)
    try:
        yield records
    finally:
        for layer, activation in zip(layers, kept, strict=True):
            del vars(layer)["call"]
            vars(layer)["activation"] = activation


def _recording_call(record):
    own = record.layer.call

    def call(inputs, *args, **kwargs):
        record.inputs.append(inputs)
        return own(inputs, *args, **kwargs)

    return call


def _recording_activation(record):
    own = record.layer.activation

    def activation(outputs):
        record.outputs.append(outputs)
        return outputs if own is None else own(outputs)

    return activation
