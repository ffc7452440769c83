"""Transformer from a sequence to a sequence, with posteriors over its projections."""

import functools

import numpy as np
import tensorflow as tf

from bayes_rl import layers

PADDING = 0


def build_transformer(
    source_values,
    target_values,
    source_length,
    target_length,
    hidden_size=512,
    num_layers=6,
    num_heads=8,
    filter_size=2048,
    kernel_initializer="trainable_glorot_normal",
    kernel_regularizer="normal_kl_divergence",
):
    """Makes a Transformer whose attention and feed-forward layers are Bayesian.

        memory = encoder(source)
        logits[t] = decoder(target[0..t], memory)

    Each layer attends by `MultiHeadAttentionFlipout`, then applies two `DenseFlipout`,
    `..._expand` and `..._contract`, to each position. Inputs are normalized, and outputs
    added to them. Embeddings and logits have one value for each weight.

    Source: Tran et al., 2019, Bayesian Layers, section 3.1; Vaswani et al., 2017, Attention
    Is All You Need, section 3; normalized before each layer as Vaswani et al., 2018,
    Tensor2Tensor. There is no dropout: the draws of the weights are noise enough.

    Args:
        source_values: number of words of the source; word 0 is padding.
        target_values: number of words of the target.
        source_length: of the sources.
        target_length: greatest length of the targets.
        hidden_size: of each position, a multiple of `num_heads`.
        num_layers: of the encoder, and of the decoder.
        num_heads: of attention.
        filter_size: of the dense layers between.
        kernel_initializer: posterior over each kernel of attention and feed-forward; with
            an ordinary initializer and no regularizer it is the deterministic twin.
        kernel_regularizer: cost of each posterior, or None.

    Returns:
        A Keras model from [sources [B, source_length], targets [B, T]], whole numbers, to
        logits [B, T, target_values]. Logits t see the targets up to t, so these are the
        words that are wanted, one position later.

    Raises:
        ValueError: `hidden_size` is no multiple of `num_heads`.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> model = ed.models.build_transformer(9, 5, 7, 3, 8, 1, 2, 16)
        >>> model([tf.ones([2, 7], tf.int32), tf.ones([2, 3], tf.int32)]).shape
        TensorShape([2, 3, 5])
        >>> sorted(ed.posteriors(model))[0]
        'decoder_0_contract/kernel'
    """
    if hidden_size % num_heads:
        raise ValueError(
            f"hidden_size must be a multiple of num_heads, {num_heads}, got {hidden_size}"
        )
    options = {
        "kernel_initializer": kernel_initializer,
        "kernel_regularizer": kernel_regularizer,
    }
    attend = functools.partial(_attend, num_heads=num_heads, options=options)
    transform = functools.partial(_transform, filter_size=filter_size, options=options)
    source = tf.keras.Input([source_length], dtype=tf.int32, name="source")
    target = tf.keras.Input([target_length], dtype=tf.int32, name="target")
    is_word = tf.reshape(tf.not_equal(source, PADDING), [-1, 1, source_length])
    is_past = np.tri(target_length, dtype=bool)[np.newaxis]

    x = _embed(source, source_values, hidden_size, "source")
    for i in range(num_layers):
        x = attend(x, x, is_word, name=f"encoder_{i}_self")
        x = transform(x, name=f"encoder_{i}")
    memory = _normalize(x, "encoder")
    x = _embed(target, target_values, hidden_size, "target")
    for i in range(num_layers):
        x = attend(x, x, is_past, name=f"decoder_{i}_self")
        x = attend(x, memory, is_word, name=f"decoder_{i}_cross")
        x = transform(x, name=f"decoder_{i}")
    logits = tf.keras.layers.Dense(target_values, name="logits")(_normalize(x, "decoder"))
    return tf.keras.Model([source, target], logits, name="Transformer")


def _embed(words, num_values, hidden_size, name):
    stddev = tf.keras.initializers.RandomNormal(stddev=hidden_size**-0.5)
    x = tf.keras.layers.Embedding(num_values, hidden_size, stddev, name=f"{name}_words")(
        words
    )
    x = hidden_size**0.5 * x
    return layers.PositionalEmbedding(words.shape[1], name=f"{name}_positions")(x)


def _normalize(x, name):
    # A larger epsilon lets Keras use an operation that DTensor does not have.
    return tf.keras.layers.LayerNormalization(epsilon=1e-6, name=f"{name}_norm")(x)


def _attend(x, memory, mask, num_heads, options, name):
    """Attention from `x` to `memory`, which is `x` itself or what is encoded."""
    attention = layers.MultiHeadAttentionFlipout(
        num_heads, x.shape[-1] // num_heads, name=name, **options
    )
    y = _normalize(x, name)
    return x + attention(y, y if memory is x else memory, attention_mask=mask)


def _transform(x, filter_size, options, name):
    """Two dense layers at each position."""
    y = layers.DenseFlipout(filter_size, "relu", name=f"{name}_expand", **options)(
        _normalize(x, name + "_transform")
    )
    return x + layers.DenseFlipout(x.shape[-1], name=f"{name}_contract", **options)(y)
