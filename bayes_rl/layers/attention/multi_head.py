"""Multi-head attention with posteriors over the kernels of its projections."""

import math

import tensorflow as tf

from bayes_rl.initializers.seeding import fresh
from bayes_rl.layers import products
from bayes_rl.layers.base import ScaledKL, takes
from bayes_rl.layers.dense import DenseFlipout, DenseReparameterization
from bayes_rl.serialization import register
from bayes_rl.weights import renew_regularizers


class _Projection(tf.keras.layers.Layer):
    """A dense layer from the last axes of its inputs to those of its outputs."""

    def __init__(self, dense, num_axes, output_shape, **kwargs):
        super().__init__(**kwargs)
        self.dense = dense
        self.num_axes = num_axes
        self.last_axes = list(output_shape)

    def build(self, input_shape):
        with tf.name_scope(f"{self.dense.name}/"):
            leading = input_shape[: -self.num_axes]
            self.dense.build([*leading, math.prod(input_shape[-self.num_axes :])])
        self.built = True

    def call(self, inputs):
        leading = products.sizes(inputs)[: -self.num_axes]
        features = math.prod(inputs.shape[-self.num_axes :])
        outputs = self.dense(tf.reshape(inputs, [*leading, features]))
        return tf.reshape(outputs, [*products.sizes(outputs)[:-1], *self.last_axes])


def _einsum(equation, *tensors):
    """Sum of products; where S draws are held, an axis stands in front of the batch."""
    parts = equation.replace("->", ",").split(",")
    if tensors[0].shape.rank > len(parts[0]):
        equation = "...{},...{}->...{}".format(*parts)
    return tf.einsum(equation, *tensors)


@register
@takes(
    tf.keras.layers.MultiHeadAttention,
    kernel_initializer="trainable_glorot_normal",
    kernel_regularizer="normal_kl_divergence",
)
class MultiHeadAttentionReparameterization(ScaledKL, tf.keras.layers.MultiHeadAttention):
    """Multi-head attention that draws its kernels from their posteriors at every call.

        query, key, value = inputs projected, for each head
        scores = softmax(query key^T / sqrt(key_dim))
        outputs = scores value, of all heads, projected

    Each of the four projections is a `DenseReparameterization` named `<layer>/query`,
    `<layer>/key`, `<layer>/value` and `<layer>/attention_output`, whose kernels are
    [inputs, outputs] with heads side by side. The whole batch shares the draws. Held
    weights (`bayes_rl.hold`) take their place; with S of them, inputs [S, B, T, features]
    go through S functions.

    Source: Vaswani et al., 2017, Attention Is All You Need, section 3.2.2; Tran et al.,
    2019, Bayesian Layers: A Module for Neural Network Uncertainty, section 3.

    Args:
        num_heads: as in `tf.keras.layers.MultiHeadAttention`; likewise all that are not
            named here.
        kernel_initializer: posterior over the kernel of each projection; an ordinary
            initializer makes them deterministic, and their KL becomes -log prior.
        bias_initializer: likewise for the biases, deterministic by default.
        kernel_regularizer: cost of the posterior over each kernel, or None.
        bias_regularizer: likewise for the biases.
        activity_regularizer: of the outputs of each projection and of the layer.

    Raises:
        ValueError: an initializer or regularizer is unknown.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> layer = ed.layers.MultiHeadAttentionReparameterization(2, 4, name="attention")
        >>> layer(tf.ones([2, 5, 3]), tf.ones([2, 7, 3])).shape
        TensorShape([2, 5, 3])
        >>> sorted(ed.posteriors(layer))[0]
        'attention/attention_output/kernel'
    """

    dense_class = DenseReparameterization

    def _build_from_signature(self, query, value, key=None):
        self._built_from_signature = True
        key = value if key is None else key
        self._query_shape, self._value_shape, self._key_shape = (
            tf.TensorShape(getattr(x, "shape", x)) for x in (query, value, key)
        )
        heads, key_dim, value_dim = self._num_heads, self._key_dim, self._value_dim
        outputs = self._output_shape or self._query_shape[-1]
        outputs = tf.TensorShape(outputs).as_list()
        with tf.init_scope():
            self._query_dense = self._project("query", self._query_shape, [heads, key_dim])
            self._key_dense = self._project("key", self._key_shape, [heads, key_dim])
            self._value_dense = self._project(
                "value", self._value_shape, [heads, value_dim]
            )
            self._output_dense = self._project(
                "attention_output",
                self._query_shape[:-1] + [heads, value_dim],
                outputs,
                num_axes=2,
            )
            self._build_attention(self._query_shape.rank + 1)

    def _project(self, name, input_shape, output_shape, num_axes=1):
        options = {
            f"{weight}_{kind}": getattr(self, f"_{weight}_{kind}")
            for weight in ("kernel", "bias")
            for kind in ("initializer", "regularizer", "constraint")
        }
        # One object of Keras would give equal projections equal initial values.
        for part in ("kernel_initializer", "bias_initializer"):
            options[part] = fresh(options[part])
        dense = self.dense_class(
            math.prod(output_shape),
            use_bias=self._use_bias,
            activity_regularizer=self._activity_regularizer,
            name=f"{self.name}/{name}",
            dtype=self._dtype_policy,
            kl_scale=self.kl_scale,
            **options,
        )
        projection = _Projection(
            dense, num_axes, output_shape, name=name, dtype=self._dtype_policy
        )
        projection.build(input_shape)
        return projection

    def renew_regularizers(self):
        """Gives configurations the regularizers that the projections have now."""
        if self._built_from_signature:
            renew_regularizers(self, self._query_dense.dense, prefix="_")

    def _build_attention(self, rank):
        super()._build_attention(rank)
        axes = tuple(range(-len(self._attention_axes), 0))
        self._softmax = tf.keras.layers.Softmax(axes, dtype=self._dtype_policy)

    def _compute_attention(self, query, key, value, attention_mask=None, training=None):
        query = tf.multiply(query, 1.0 / math.sqrt(float(self._key_dim)))
        scores = _einsum(self._dot_product_equation, key, query)
        scores = self._masked_softmax(scores, attention_mask)
        dropped = self._dropout_layer(scores, training=training)
        return _einsum(self._combine_equation, dropped, value), scores

    def _masked_softmax(self, attention_scores, attention_mask=None):
        # [S, B, heads, ..., T, T] for S draws, else [B, heads, ..., T, T].
        plain = self._query_shape.rank + len(self._attention_axes)
        if attention_mask is not None and attention_scores.shape.rank > plain:
            attention_mask = tf.convert_to_tensor(attention_mask)
            if attention_mask.shape.rank < plain:
                attention_mask = attention_mask[tf.newaxis]
        return super()._masked_softmax(attention_scores, attention_mask)

    def _compute_causal_mask(self, query, value=None):
        if query.shape.rank > self._query_shape.rank:
            query, value = query[0], None if value is None else value[0]
        return super()._compute_causal_mask(query, value)


@register
class MultiHeadAttentionFlipout(MultiHeadAttentionReparameterization):
    """Multi-head attention whose projections are `DenseFlipout` layers.

    Where kernels are held with their signs, [B, ...] or [S, B, ...], example b uses signs
    b at all its positions; else signs are independent for each position.

    Source: Wen et al., 2018, Flipout: Efficient Pseudo-Independent Weight Perturbations on
    Mini-Batches, equation 4; Tran et al., 2019, Bayesian Layers: A Module for Neural
    Network Uncertainty, section 3.

    Args and errors: as in `MultiHeadAttentionReparameterization`.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> layer = ed.layers.MultiHeadAttentionFlipout(2, 4)
        >>> layer(tf.ones([2, 5, 3]), tf.ones([2, 7, 3])).shape
        TensorShape([2, 5, 3])
    """

    dense_class = DenseFlipout
