"""Convolutional network, Bayesian or not."""

import tensorflow as tf

from bayes_rl import layers


def build_conv_net(num_classes, be_bayesian=True, filters=32):
    """Makes a convolutional classifier whose convolutions may have random kernels.

    Bayesian layers take the place of Keras's without other changes.

    Source: Tran et al., 2019, Bayesian Layers, Figure 4.

    Args:
        num_classes: size of the logits.
        be_bayesian: whether convolutions have a posterior over their kernels.
        filters: of each convolution.

    Returns:
        A Keras model from images [B, height, width, channels] to logits [B, num_classes].

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> model = ed.models.build_conv_net(10, filters=4)
        >>> model(tf.ones([2, 8, 8, 3])).shape, len(model.losses)
        (TensorShape([2, 10]), 2)
    """
    convolution = layers.Conv2DReparameterization if be_bayesian else tf.keras.layers.Conv2D
    return tf.keras.Sequential(
        [
            convolution(filters, kernel_size=5, strides=1, padding="SAME"),
            tf.keras.layers.BatchNormalization(),
            tf.keras.layers.Activation("relu"),
            convolution(filters, kernel_size=5, strides=2, padding="SAME"),
            tf.keras.layers.BatchNormalization(),
            tf.keras.layers.Activation("relu"),
            tf.keras.layers.GlobalAveragePooling2D(),
            tf.keras.layers.Dense(num_classes),
        ]
    )
