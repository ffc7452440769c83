"""Embedding with a posterior over its table."""

import tensorflow as tf

from bayes_rl.layers import products
from bayes_rl.layers.base import StochasticLayer, WeightAttribute, takes
from bayes_rl.serialization import register


@register
@takes(
    tf.keras.layers.Embedding,
    without=["sparse"],
    embeddings_initializer="trainable_normal",
    embeddings_regularizer="normal_kl_divergence",
)
class EmbeddingReparameterization(StochasticLayer, tf.keras.layers.Embedding):
    """Embedding that draws its table from its posterior at every call.

        embeddings ~ posterior
        outputs[..., :] = embeddings[inputs[...], :]

    The whole batch shares the draw, so equal inputs have equal outputs. Held weights
    (`bayes_rl.hold`) take its place; with S of them, inputs [S, N, ...] give outputs
    [S, N, ..., output_dim].

    Source: Tran et al., 2019, Bayesian Layers: A Module for Neural Network Uncertainty,
    section 2.1; Blundell et al., 2015, Weight Uncertainty in Neural Networks, section 3.2.

    Args:
        input_dim: number of rows of the table; inputs are below it.
        output_dim: size of each row.
        embeddings_initializer: posterior over the table; an ordinary initializer makes it
            deterministic, and its KL becomes -log prior.
        embeddings_regularizer: cost of the posterior, or None.
        activity_regularizer: as in `tf.keras.layers.Embedding`.
        embeddings_constraint: of a deterministic table.
        mask_zero: whether input 0 means padding, which later layers leave out.
        input_length: of the sequences, where it is constant.
        **kwargs: of `tf.keras.layers.Embedding`.

    Raises:
        ValueError: a size is below 1, or an initializer or regularizer is unknown.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> layer = ed.layers.EmbeddingReparameterization(10, 4, name="words")
        >>> layer(tf.constant([[1, 2, 1]])).shape
        TensorShape([1, 3, 4])
        >>> layer.embeddings.name
        'words/embeddings'
    """

    looks_up = True
    embeddings = WeightAttribute()

    def call(self, inputs):
        embeddings = self.draw("embeddings")
        draws = embeddings.shape[:-2]
        if draws.rank:
            products.check_draws(inputs, draws[0])
        if not inputs.dtype.is_integer:
            inputs = tf.cast(inputs, tf.int32)
        return tf.gather(embeddings, inputs, axis=-2, batch_dims=draws.rank)
