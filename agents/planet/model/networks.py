"""The networks around the dynamics: encoder, decoder and heads."""

import functools

import tensorflow as tf

from bayes_rl.layers import products

# Kernel sizes of the transposed convolutions that lead from one pixel to `size` pixels.
_DECODER_KERNELS = {64: (5, 5, 6, 6), 32: (5, 6, 6)}


class Dense(tf.keras.layers.Dense):
    """Keras' layer; in narrow types with the matrix units, see `products.finish`."""

    def call(self, inputs):
        outputs = products.dense(inputs, tf.convert_to_tensor(self.kernel))
        return products.finish(outputs, self.bias, self.activation)


def make_encoder(spec, settings, dtype="float32", name="") -> tf.keras.Sequential:
    """Observation [N, ...] -> embedding [N, embedding_size].

    Images pass convolutions of kernel 4 and stride 2 (Ha and Schmidhuber, 2018, World
    Models, appendix A.1, as in PlaNet), vectors pass dense layers. The name is appended to
    that of the network.
    """
    name = f"encoder_{name}" if name else "encoder"
    if not is_image(spec):
        hidden = [settings.hidden_size] * settings.encoder_layers
        return _perceptron([*hidden, settings.embedding_size], "relu", dtype, name)
    layers = [
        tf.keras.layers.Conv2D(
            settings.image_depth * 2**layer, 4, 2, activation="relu", dtype=dtype
        )
        for layer, _ in enumerate(_DECODER_KERNELS[spec.shape[0]])
    ]
    return tf.keras.Sequential([*layers, tf.keras.layers.Flatten(dtype=dtype)], name)


def make_decoder(spec, settings, dtype="float32", name="") -> tf.keras.Sequential:
    """Features [N, latent_size + belief_size] -> mean of the observation [N, ...]."""
    name = f"decoder_{name}" if name else "decoder"
    hidden = [settings.hidden_size] * settings.decoder_layers
    if not is_image(spec):
        return _perceptron([*hidden, spec.shape[0]], None, dtype, name)
    if settings.image_decoder == "dense":
        decoder = _perceptron([*hidden, spec.shape.num_elements()], None, dtype, name)
        decoder.add(tf.keras.layers.Reshape(spec.shape, dtype=dtype))
        return decoder
    kernels = _DECODER_KERNELS[spec.shape[0]]
    depths = [
        settings.image_depth * 2**layer for layer in reversed(range(len(kernels) - 1))
    ]
    convolution = functools.partial(tf.keras.layers.Conv2DTranspose, strides=2, dtype=dtype)
    layers = [
        tf.keras.layers.Dense(32 * settings.image_depth, dtype=dtype),
        tf.keras.layers.Reshape([1, 1, 32 * settings.image_depth], dtype=dtype),
        *(
            convolution(*sizes, activation="relu")
            for sizes in zip(depths, kernels[:-1], strict=True)
        ),
        convolution(spec.shape[-1], kernels[-1]),
    ]
    return tf.keras.Sequential(layers, name)


def make_head(settings, name, dtype="float32", last=None) -> tf.keras.Sequential:
    """Features [N, latent_size + belief_size] -> one number [N, 1], such as a reward.

    `last` makes the last layer of a number of units; None: `Dense`.
    """
    hidden = [settings.reward_units] * settings.reward_layers
    layers = [Dense(size, "relu", dtype=dtype) for size in hidden]
    layers.append(last(1) if last else Dense(1, dtype=dtype))
    return tf.keras.Sequential(layers, name)


def pooled(spec, settings) -> tf.TensorSpec:
    """The spec of an observation as the networks see it, after `average_pool`."""
    if not is_image(spec):
        return spec
    height, width, channels = spec.shape
    pool = settings.image_pool
    return tf.TensorSpec([height // pool, width // pool, channels], spec.dtype)


def average_pool(image, pool):
    """Means over squares of `pool` pixels a side, of [..., height, width, channels].

    Example:
        >>> average_pool(tf.reshape(tf.range(4.0), [2, 2, 1]), 2).numpy().ravel()
        array([1.5], dtype=float32)
    """
    if pool == 1:
        return image
    height, width, channels = image.shape[-3:]
    squares = [height // pool, pool, width // pool, pool, channels]
    leading = tf.shape(image)[:-3]
    means = tf.reduce_mean(tf.reshape(image, tf.concat([leading, squares], 0)), [-4, -2])
    return tf.ensure_shape(means, [*image.shape[:-3], *squares[::2]])


def enlarge(image, pool):
    """Each pixel as a square of `pool` pixels a side, what `average_pool` makes smaller."""
    if pool == 1:
        return image
    return tf.repeat(tf.repeat(image, pool, axis=-3), pool, axis=-2)


def is_image(spec) -> bool:
    """Whether observations of this spec are images: uint8 [height, width, channels]."""
    return spec.dtype == tf.uint8 and len(spec.shape) == 3


def _perceptron(sizes, last_activation, dtype, name):
    activations = ["relu"] * (len(sizes) - 1) + [last_activation]
    layers = [
        Dense(size, activation, dtype=dtype)
        for size, activation in zip(sizes, activations, strict=True)
    ]
    return tf.keras.Sequential(layers, name)
