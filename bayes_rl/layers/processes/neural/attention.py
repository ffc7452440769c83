"""Attention: what a neural process takes from its context for each target."""

import tensorflow as tf

from bayes_rl import checks
from bayes_rl.serialization import register

REPRESENTATIONS = ("identity", "mlp")
KINDS = ("uniform", "laplace", "dot_product", "multihead")


def multilayer_perceptron(sizes, dtype, name):
    """Dense layers of these sizes with ReLU between them, the last one linear."""
    hidden = [
        tf.keras.layers.Dense(size, "relu", dtype=dtype, name=f"hidden_{index}")
        for index, size in enumerate(sizes[:-1])
    ]
    output = tf.keras.layers.Dense(sizes[-1], dtype=dtype, name="output")
    return tf.keras.Sequential([*hidden, output], name=name)


@register
class Attention(tf.keras.layers.Layer):
    """Weighted sums of what is known at context points, one for each target point.

        outputs[t] = sum over contexts c of weight[t, c] r[c]
        uniform:      weight = 1 / number of contexts
        laplace:      softmax over c of -|key[c] - query[t]|_1 / scale
        dot_product:  softmax over c of key[c] . query[t] / sqrt(size of key)
        multihead:    dot products of `num_heads` projections, then a projection

    where key and query are x1 and x2, or a multilayer perceptron of each. Without
    `normalise`, weights are 1 + tanh (laplace) or sigmoid (dot_product) of the same scores.

    Source: Kim et al., 2019, Attentive Neural Processes, section 3.2 and appendix A.

    Args:
        rep: 'identity' or 'mlp', how keys and queries are made.
        output_sizes: units of the layers of the perceptron.
        att_type: 'uniform', 'laplace', 'dot_product' or 'multihead'.
        scale: of laplace attention, above 0.
        normalise: whether weights sum to 1; multihead always does.
        num_heads: of multihead attention.
        **kwargs: of `tf.keras.layers.Layer`.

    Raises:
        ValueError: an argument is unknown, missing or out of its range.

    Example:
        >>> attention = Attention("identity", None, "laplace")
        >>> context, target = tf.ones([1, 5, 2]), tf.ones([1, 3, 2])
        >>> attention(context, target, tf.ones([1, 5, 4])).shape
        TensorShape([1, 3, 4])
    """

    def __init__(
        self,
        rep,
        output_sizes,
        att_type,
        scale=1.0,
        normalise=True,
        num_heads=8,
        **kwargs,
    ):
        checks.one_of(REPRESENTATIONS, rep=rep)
        checks.one_of(KINDS, att_type=att_type)
        if rep == "mlp" and not output_sizes:
            raise ValueError(f"rep 'mlp' needs output_sizes, got {output_sizes!r}")
        checks.above_0(scale=scale)
        super().__init__(**kwargs)
        self.rep = rep
        self.output_sizes = output_sizes
        self.att_type = att_type
        self.scale = scale
        self.normalise = normalise
        self.num_heads = num_heads
        self.network = None
        if rep == "mlp":
            self.network = multilayer_perceptron(output_sizes, self.dtype_policy, "network")

    def build(self, input_shape):
        keys, _, values = (tf.TensorShape(shape) for shape in input_shape)
        if self.network is not None and self.att_type != "uniform":
            self.network.build(keys)
            keys = keys[:-1].concatenate(self.output_sizes[-1])
        self.heads = None
        if self.att_type == "multihead":
            self.heads = self._make_heads(keys[-1], values[-1])
        super().build(input_shape)

    def _make_heads(self, key_size, value_size):
        heads = tf.keras.layers.MultiHeadAttention(
            self.num_heads,
            key_dim=max(value_size // self.num_heads, 1),
            output_shape=value_size,
            use_bias=False,
            dtype=self.dtype_policy,
            name="heads",
        )
        # Keras builds these from a call only.
        keys = tf.zeros([1, 1, key_size], self.compute_dtype)
        heads(query=keys, key=keys, value=tf.zeros([1, 1, value_size], self.compute_dtype))
        return heads

    def __call__(self, x1, x2=None, r=None, **kwargs):
        # Keras builds a layer from its first argument, and restores calls with one list.
        inputs = x1 if x2 is None else [x1, x2, r]
        return super().__call__(inputs, **kwargs)

    def call(self, inputs):
        """Attention of targets to contexts.

        Args:
            inputs: x1 [batch, contexts, features], x2 [batch, targets, features] and
                r [batch, contexts, size].

        Returns:
            [batch, targets, size].
        """
        x1, x2, r = inputs
        if self.att_type == "uniform":
            mean = tf.reduce_mean(r, axis=1, keepdims=True)
            return tf.repeat(mean, tf.shape(x2)[1], axis=1)
        if self.network is not None:
            x1, x2 = self.network(x1), self.network(x2)
        if self.att_type == "multihead":
            return self.heads(query=x2, key=x1, value=r)
        weights = self._laplace(x1, x2) if self.att_type == "laplace" else self._dot(x1, x2)
        return tf.matmul(weights, r)

    def _laplace(self, keys, queries):
        distance = tf.abs(keys[:, tf.newaxis] - queries[:, :, tf.newaxis])
        scores = -tf.reduce_sum(distance, -1) / self.scale
        return tf.nn.softmax(scores) if self.normalise else 1.0 + tf.tanh(scores)

    def _dot(self, keys, queries):
        scores = tf.matmul(queries, keys, transpose_b=True) / keys.shape[-1] ** 0.5
        return tf.nn.softmax(scores) if self.normalise else tf.sigmoid(scores)
