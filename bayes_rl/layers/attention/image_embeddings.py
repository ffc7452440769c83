"""Embeddings of images as sequences of color values, and of positions in sequences."""

import math

import tensorflow as tf

from bayes_rl import checks
from bayes_rl.layers import products
from bayes_rl.serialization import register


@register
class ChannelEmbedding(tf.keras.layers.Layer):
    """Makes images a sequence of embedded values, a table for each channel.

        outputs[(row, column, channel)] = sqrt(hidden_size) table[channel, value]

    Source: Parmar et al., 2018, Image Transformer, section 3.1.

    Args:
        hidden_size: size of the embedding, at least 1.
        num_values: number of values a channel can have.
        embeddings_initializer: of the tables; default: normal of stddev
            1 / sqrt(hidden_size).
        **kwargs: of `tf.keras.layers.Layer`.

    Inputs of a call are [B, height, width, channels], whole numbers from 0 to
    num_values - 1; it returns [B, height * width * channels, hidden_size].

    Raises:
        ValueError: `hidden_size` is below 1; InvalidArgumentError where, on a processor, a
            value is out of its range.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> ed.layers.ChannelEmbedding(8)(tf.zeros([2, 4, 4, 3])).shape
        TensorShape([2, 48, 8])
    """

    def __init__(self, hidden_size, num_values=256, embeddings_initializer=None, **kwargs):
        checks.at_least_1(hidden_size=hidden_size)
        super().__init__(**kwargs)
        self.hidden_size, self.num_values = hidden_size, num_values
        if embeddings_initializer is None:
            stddev = hidden_size**-0.5
            embeddings_initializer = tf.keras.initializers.RandomNormal(stddev=stddev)
        self.embeddings_initializer = tf.keras.initializers.get(embeddings_initializer)
        # Values above 256 are no bfloat16.
        self._autocast = False

    def build(self, input_shape):
        self.embeddings = self.add_weight(
            "embeddings",
            [input_shape[-1], self.num_values, self.hidden_size],
            initializer=self.embeddings_initializer,
        )
        super().build(input_shape)

    def call(self, inputs):
        batch, height, width, channels = products.sizes(inputs)
        tables = math.sqrt(self.hidden_size) * self.embeddings
        values = tf.cast(inputs, tf.int32)
        channel = tf.range(inputs.shape[-1]) + tf.zeros_like(values)
        outputs = tf.gather_nd(tables, tf.stack([channel, values], axis=-1))
        return tf.reshape(outputs, [batch, height * width * channels, self.hidden_size])


@register
class PositionalEmbedding(tf.keras.layers.Layer):
    """Adds a trainable embedding of its position to each element of a sequence.

        outputs[position] = inputs[position] + table[position]

    Source: Parmar et al., 2018, Image Transformer, section 3.1.

    Args:
        max_length: greatest length of a sequence, at least 1.
        embeddings_initializer: of the table; default: normal of stddev 0.02.
        **kwargs: of `tf.keras.layers.Layer`.

    Inputs of a call are [..., length, features], as the outputs.

    Raises:
        ValueError: `max_length` is below 1, or a sequence is longer; InvalidArgumentError
            where its length is only known when the graph runs.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> ed.layers.PositionalEmbedding(max_length=100)(tf.ones([2, 48, 8])).shape
        TensorShape([2, 48, 8])
    """

    def __init__(self, max_length, embeddings_initializer=None, **kwargs):
        checks.at_least_1(max_length=max_length)
        super().__init__(**kwargs)
        self.max_length = max_length
        if embeddings_initializer is None:
            embeddings_initializer = tf.keras.initializers.RandomNormal(stddev=0.02)
        self.embeddings_initializer = tf.keras.initializers.get(embeddings_initializer)

    def build(self, input_shape):
        self.embeddings = self.add_weight(
            "embeddings",
            [self.max_length, input_shape[-1]],
            initializer=self.embeddings_initializer,
        )
        super().build(input_shape)

    def call(self, inputs):
        length = self._checked(products.sizes(inputs)[-2])
        return inputs + self.embeddings[:length]

    def _checked(self, length):
        message = f"sequences must not be longer than max_length {self.max_length}, got"
        if not tf.is_tensor(length):
            if length > self.max_length:
                raise ValueError(f"{message} {length}")
            return length
        check = tf.debugging.Assert(length <= self.max_length, [message, length])
        with tf.control_dependencies([check]):
            return tf.identity(length)
