"""Bayesian ResNet-50."""

import tensorflow as tf

from bayes_rl import layers


def _normalized(x, activation="relu"):
    x = tf.keras.layers.BatchNormalization()(x)
    return tf.keras.layers.Activation(activation)(x) if activation else x


def _bottleneck(inputs, convolution, kernel_size, filters, strides):
    """The residual: narrow, convolve, widen."""
    filters1, filters2, filters3 = filters
    x = _normalized(convolution(filters1, (1, 1), strides=strides)(inputs))
    x = _normalized(convolution(filters2, kernel_size, padding="same")(x))
    return _normalized(convolution(filters3, (1, 1))(x), activation=None)


def conv_block(inputs, convolution, kernel_size, filters, strides=(2, 2)):
    """Adds a residual to a convolution of the inputs, which changes their size."""
    x = _bottleneck(inputs, convolution, kernel_size, filters, strides)
    shortcut = convolution(filters[-1], (1, 1), strides=strides)(inputs)
    x = tf.keras.layers.add([x, _normalized(shortcut, activation=None)])
    return tf.keras.layers.Activation("relu")(x)


def identity_block(inputs, convolution, kernel_size, filters):
    """Adds a residual to the inputs, which have filters[2] channels."""
    x = _bottleneck(inputs, convolution, kernel_size, filters, strides=(1, 1))
    x = tf.keras.layers.add([x, inputs])
    return tf.keras.layers.Activation("relu")(x)


def build_bayesian_resnet50(
    input_shape=None,
    num_classes=1000,
    convolution=layers.Conv2DFlipout,
    dense=layers.DenseVariationalDropout,
    width=64,
    blocks=(3, 4, 6, 3),
):
    """Makes a residual network with a posterior over all kernels.

    `losses` holds their KL.

    Source: Tran et al., 2019, Bayesian Layers, Figure 15; He et al., 2016, Deep Residual
    Learning for Image Recognition, table 1 (whose number of blocks differs from that in
    the figure).

    Args:
        input_shape: [height, width, channels] of the images.
        num_classes: size of the logits.
        convolution: class of the convolutions, or a function that makes them.
        dense: class of the last layer.
        width: filters of the first convolution, doubled from stage to stage.
        blocks: number of blocks of each stage.

    Returns:
        A Keras model from images [B, *input_shape] to logits [B, num_classes].

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> model = ed.models.build_bayesian_resnet50([16, 16, 3], 10, width=4, blocks=[1])
        >>> model(tf.ones([2, 16, 16, 3])).shape, len(model.losses)
        (TensorShape([2, 10]), 6)
    """
    inputs = tf.keras.layers.Input(shape=input_shape)
    x = tf.keras.layers.ZeroPadding2D((3, 3))(inputs)
    x = convolution(width, (7, 7), strides=(2, 2), padding="valid")(x)
    x = tf.keras.layers.ZeroPadding2D((1, 1))(_normalized(x))
    x = tf.keras.layers.MaxPooling2D((3, 3), strides=(2, 2))(x)
    for stage, count in enumerate(blocks):
        size = width * 2**stage
        filters, strides = [size, size, 4 * size], (2, 2) if stage else (1, 1)
        x = conv_block(x, convolution, 3, filters, strides=strides)
        for _ in range(count - 1):
            x = identity_block(x, convolution, 3, filters)
    x = tf.keras.layers.GlobalAveragePooling2D()(x)
    x = dense(num_classes)(x)
    return tf.keras.Model(inputs, x, name="resnet50")
