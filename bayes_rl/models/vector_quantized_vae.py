"""Vector-quantized variational auto-encoder."""

import tensorflow as tf

from bayes_rl import layers


def build_vector_quantized_vae(
    channels=3,
    base_depth=128,
    latent_size=64,
    num_codes=512,
    kernel_size=7,
    stochastic=False,
):
    """Makes an encoder of images to codes of a learned codebook, and a decoder.

        code = VectorQuantizer(encoder(image)),  image ~ Bernoulli(decoder(code))

    The prior over codes is uniform. With nearest codes the loss of an image is
    -log p(image | code), with the penalties in the encoder's `losses`; with random codes
    it is -log p(image | code) - entropy of the codes.

    Source: Tran et al., 2019, Bayesian Layers, Figure 17; van den Oord et al., 2017,
    Neural Discrete Representation Learning.

    Args:
        channels: of the images, whose height and width must be divisible by 4.
        base_depth: number of filters of the outer convolutions.
        latent_size: a quarter of the size of a code.
        num_codes: of the codebook.
        kernel_size: of the convolution that makes the code.
        stochastic: whether codes are random, or the nearest.

    Returns:
        (encoder, decoder): from images [B, height, width, channels] to codes
        [B, height / 4 - kernel_size + 1, width / 4 - kernel_size + 1, 4 * latent_size], a
        tensor or random variable, and from those to a random variable of images.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> encoder, decoder = ed.models.build_vector_quantized_vae(1, 4, 2, 16, 2)
        >>> image = tf.zeros([5, 8, 8, 1])
        >>> code = encoder(image)
        >>> code.shape, decoder(code).log_prob(image).shape, len(encoder.losses)
        (TensorShape([5, 1, 1, 8]), TensorShape([5, 8, 8, 1]), 1)
    """
    convolution, transpose = tf.keras.layers.Conv2D, tf.keras.layers.Conv2DTranspose
    same = {"padding": "same", "activation": "relu"}
    encoder = tf.keras.Sequential(
        [
            convolution(base_depth, 5, 1, **same),
            convolution(base_depth, 5, 2, **same),
            convolution(2 * base_depth, 5, 1, **same),
            convolution(2 * base_depth, 5, 2, **same),
            # Codes take both signs, as the codebook.
            convolution(4 * latent_size, kernel_size, padding="valid"),
            layers.VectorQuantizer(num_codes, stochastic=stochastic, name="latent_code"),
        ]
    )
    decoder = tf.keras.Sequential(
        [
            transpose(2 * base_depth, kernel_size, padding="valid", activation="relu"),
            transpose(2 * base_depth, 5, **same),
            transpose(2 * base_depth, 5, 2, **same),
            transpose(base_depth, 5, **same),
            transpose(base_depth, 5, 2, **same),
            transpose(base_depth, 5, **same),
            convolution(channels, 5, padding="same", activation=None),
            layers.Bernoulli(name="image"),  # likelihood
        ]
    )
    return encoder, decoder
