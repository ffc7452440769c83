"""Attention of each position of a long sequence to those near it."""

import tensorflow as tf

from bayes_rl import checks
from bayes_rl.layers import products
from bayes_rl.serialization import register


@register
class LocalAttention1D(tf.keras.layers.Layer):
    """Multi-head attention between blocks of a sequence that lie side by side.

        "local_unmasked": to the own block, the one before it and the one after it
        "local_mask_right": to the block before it and, of the own, to itself and what is
            before it

    Memory grows with length * block_length, not with the square of the length.

    Source: Parmar et al., 2018, Image Transformer, section 3.2 (1D local attention).

    Args:
        num_heads: at least 1.
        key_dim: size of each head; default: features / num_heads.
        block_length: at least 1.
        attention_type: "local_unmasked" or "local_mask_right".
        **kwargs: of `tf.keras.layers.Layer`.

    Inputs of a call are [B, length, features], as the outputs.

    Raises:
        ValueError: an argument is out of its range.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> ed.layers.LocalAttention1D(2, block_length=16)(tf.ones([2, 50, 8])).shape
        TensorShape([2, 50, 8])
    """

    attention_types = ("local_unmasked", "local_mask_right")

    def __init__(
        self,
        num_heads=8,
        key_dim=None,
        block_length=256,
        attention_type="local_unmasked",
        **kwargs,
    ):
        checks.at_least_1(num_heads=num_heads, block_length=block_length)
        checks.one_of(self.attention_types, attention_type=attention_type)
        super().__init__(**kwargs)
        self.num_heads, self.key_dim = num_heads, key_dim
        self.block_length, self.attention_type = block_length, attention_type

    def build(self, input_shape):
        self.attention = tf.keras.layers.MultiHeadAttention(
            self.num_heads,
            self.key_dim or max(1, input_shape[-1] // self.num_heads),
            attention_axes=(2,),
            dtype=self._dtype_policy,
            name="attention",
        )
        with tf.name_scope("attention"):
            blocks = tf.TensorShape([None, None, None, input_shape[-1]])
            self.attention._build_from_signature(blocks, blocks)
        super().build(input_shape)

    def call(self, inputs):
        batch, length, features = products.sizes(inputs)
        count = -(-length // self.block_length)
        missing = count * self.block_length - length
        padded = tf.pad(inputs, [[0, 0], [0, missing], [0, 0]])
        blocks = tf.reshape(padded, [batch, count, self.block_length, features])
        shifts = (1, 0) if self.attention_type == "local_mask_right" else (1, 0, -1)
        # What comes round the end is masked.
        near = tf.concat([tf.roll(blocks, shift, axis=1) for shift in shifts], axis=2)
        mask = self._mask(count, length, shifts)
        outputs = self.attention(blocks, near, attention_mask=mask)
        outputs = tf.reshape(outputs, [batch, count * self.block_length, features])
        return tf.ensure_shape(outputs[:, :length], inputs.shape)

    def _mask(self, count, length, shifts):
        """[1, count, block_length, keys], whether a query may see a key."""
        own = tf.range(count * self.block_length)
        own = tf.reshape(own, [1, count, self.block_length])
        queries = own[..., tf.newaxis]
        keys = tf.concat([own - shift * self.block_length for shift in shifts], -1)
        keys = keys[:, :, tf.newaxis]
        mask = (keys >= 0) & (keys < length) & (queries < count * self.block_length)
        return mask & (keys <= queries) if len(shifts) == 2 else mask


@register
class MaskedLocalAttention1D(LocalAttention1D):
    """`LocalAttention1D` that sees no later positions, for autoregressive networks.

    Source: Parmar et al., 2018, Image Transformer, section 3.2.

    Args: as in `LocalAttention1D`.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> ed.layers.MaskedLocalAttention1D(2)(tf.ones([2, 50, 8])).shape
        TensorShape([2, 50, 8])
    """

    def __init__(self, num_heads=8, key_dim=None, block_length=256, **kwargs):
        kwargs.setdefault("attention_type", "local_mask_right")
        super().__init__(num_heads, key_dim, block_length, **kwargs)
