"""Image Transformer with a stochastic output layer."""

import tensorflow as tf

from bayes_rl import layers


def _attend(x, num_heads, filter_size, block_length, dropout):
    """One layer: attention, then two dense layers, each added to its inputs."""
    hidden_size = x.shape[-1]
    y = layers.MaskedLocalAttention1D(num_heads, block_length=block_length)(x)
    x = tf.keras.layers.LayerNormalization()(tf.keras.layers.Dropout(dropout)(y) + x)
    y = tf.keras.layers.Dense(filter_size, activation="relu")(x)
    y = tf.keras.layers.Dense(hidden_size, activation=None)(y)
    return tf.keras.layers.LayerNormalization()(tf.keras.layers.Dropout(dropout)(y) + x)


def build_image_transformer(
    input_shape=(128, 128, 3),
    hidden_size=512,
    num_layers=12,
    num_heads=4,
    filter_size=2048,
    block_length=256,
    num_components=5,
    num_values=256,
    dropout=0.3,
):
    """Makes an autoregressive model of images, one color value after the other.

        value[k] ~ Discretize(MixtureLogistic(transformer(value[1..k-1])))

    The output is a random variable over `num_values` evenly spaced values from -1 to 1, so
    that the network's outputs start at its scale.

    Source: Tran et al., 2019, Bayesian Layers, Figure 16; Parmar et al., 2018, Image
    Transformer, section 3.

    Args:
        input_shape: [height, width, channels] of the images.
        hidden_size: of each position.
        num_layers: of attention.
        num_heads: of attention.
        filter_size: of the dense layers between.
        block_length: of the blocks within and before which a position attends.
        num_components: of the mixture.
        num_values: number of color values.
        dropout: fraction to drop when training.

    Returns:
        A Keras model from images [B, *input_shape] of whole numbers from 0 to
        num_values - 1 to a random variable of that shape.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> model = ed.models.build_image_transformer([2, 2, 3], 8, num_layers=1)
        >>> image = tf.zeros([5, 2, 2, 3])
        >>> model(image).log_prob(image / 127.5 - 1.0).shape
        TensorShape([5, 2, 2, 3])
    """
    inputs = tf.keras.layers.Input(shape=input_shape)
    x = layers.ChannelEmbedding(hidden_size, num_values=num_values)(inputs)
    x = tf.pad(x, [[0, 0], [1, 0], [0, 0]])[:, :-1, :]  # no position sees itself
    x = layers.PositionalEmbedding(max_length=x.shape[1])(x)
    x = tf.keras.layers.Dropout(dropout)(x)
    for _ in range(num_layers):
        x = _attend(x, num_heads, filter_size, block_length, dropout)
    x = tf.keras.layers.Reshape([*input_shape, hidden_size])(x)
    x = layers.MixtureLogistic(num_components)(x)
    x = layers.Discretize(x, -1.0, 1.0, num_values)
    return tf.keras.Model(inputs, x, name="ImageTransformer")
