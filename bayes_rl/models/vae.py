"""Variational auto-encoder with a random code and a categorical image."""

import functools

import tensorflow as tf

from bayes_rl import layers


def build_vae(
    image_shape=(256, 256, 3), depth=128, code_size=512, kernel_size=7, num_values=256
):
    """Makes an encoder of images to a normal code, and a decoder.

        code ~ Normal(encoder(image), learned stddev)
        image ~ Categorical(decoder(code))

    The loss of an image is -log p(image | code) + KL(code || prior), each summed.

    Source: Tran et al., 2019, Bayesian Layers, Figure 7; Kingma and Welling, 2014,
    Auto-Encoding Variational Bayes.

    Args:
        image_shape: [height, width, channels], the first two divisible by 8.
        depth: number of filters of the outer convolutions.
        code_size: channels of the code.
        kernel_size: of the convolution that makes the code.
        num_values: number of color values.

    Returns:
        (encoder, decoder): from images [B, *image_shape] to a random variable
        [B, height / 8 - kernel_size + 1, width / 8 - kernel_size + 1, code_size], and from
        that to a random variable of whole numbers [B, *image_shape].

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> encoder, decoder = ed.models.build_vae([16, 16, 3], 4, 4, 2, num_values=8)
        >>> image = tf.zeros([5, 16, 16, 3])
        >>> code = encoder(image)
        >>> code.shape, decoder(code).log_prob(image).shape
        (TensorShape([5, 1, 1, 4]), TensorShape([5, 16, 16, 3]))
    """
    convolution = functools.partial(tf.keras.layers.Conv2D, activation="relu")
    transpose = functools.partial(tf.keras.layers.Conv2DTranspose, activation="relu")
    encoder = tf.keras.Sequential(
        [
            convolution(depth, 5, 1, padding="SAME"),
            convolution(depth, 5, 2, padding="SAME"),
            convolution(2 * depth, 5, 2, padding="SAME"),
            convolution(2 * depth, 5, 2, padding="SAME"),
            # Codes take both signs, as their prior.
            convolution(code_size, kernel_size, 1, padding="VALID", activation=None),
            layers.Normal(name="latent_code"),
        ]
    )
    channels = image_shape[-1]
    decoder = tf.keras.Sequential(
        [
            transpose(2 * depth, kernel_size, 1, padding="VALID"),
            transpose(2 * depth, 5, 2, padding="SAME"),
            transpose(depth, 5, 2, padding="SAME"),
            transpose(depth, 5, 2, padding="SAME"),
            transpose(depth, 5, 1, padding="SAME"),
            convolution(channels * num_values, 5, 1, padding="SAME", activation=None),
            tf.keras.layers.Reshape([*image_shape, num_values]),
            layers.Categorical(name="image"),
        ]
    )
    return encoder, decoder
