"""NeuralProcess: a distribution over functions, learned from many data sets."""

import tensorflow as tf
from tensorflow_probability import distributions as tfd

from bayes_rl import checks, distributions
from bayes_rl.layers.precision import parameter_dtype
from bayes_rl.numerics.means import mean_cost
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


@register
class NeuralProcess(tf.keras.Model):
    """Attentive neural process: functions given by a latent variable and a context.

        latent ~ Normal(latent_encoder(contexts)), or of the targets while training
        outputs ~ Normal(decoder(latent, deterministic_encoder(contexts, x), x))

    A training call, which has `target_y`, adds KL(latent given targets || latent given
    contexts) to `losses`, in nats per function, the mean over the batch. So the loss is
    -mean over the batch of the sum over targets of log p(y), plus `losses`. The targets
    should contain the contexts.

    Source: Garnelo et al., 2018, Neural Processes; Kim et al., 2019, Attentive Neural
    Processes, equation 3 and figure 2.

    Args:
        latent_encoder_sizes: units of the layers of the latent encoder.
        num_latents: size of the latent variable, at least 1.
        decoder_sizes: units of the layers of the decoder; the last is twice the size of y.
        use_deterministic_path: whether there is a deterministic encoder.
        deterministic_encoder_sizes: units of its layers, default as the latent encoder's.
        attention_wrapper: `Attention` of targets to contexts, default uniform.
        **kwargs: of `tf.keras.Model`.

    Raises:
        ValueError: `num_latents` is below 1 or the last of `decoder_sizes` is odd.

    Example:
        >>> model = NeuralProcess([8], num_latents=4, decoder_sizes=[8, 2])
        >>> context = tf.ones([3, 5, 1]), tf.ones([3, 5, 1])
        >>> outputs = model((context, tf.ones([3, 7, 1])))
        >>> outputs.shape, outputs.log_prob(tf.ones([3, 7, 1])).shape
        (TensorShape([3, 7, 1]), TensorShape([3, 7]))
    """

    def __init__(
        self,
        latent_encoder_sizes,
        num_latents,
        decoder_sizes,
        use_deterministic_path=True,
        deterministic_encoder_sizes=None,
        attention_wrapper=None,
        **kwargs,
    ):
        checks.at_least_1(num_latents=num_latents)
        if decoder_sizes[-1] % 2:
            raise ValueError(
                "the last of decoder_sizes must be twice the size of y, got "
                f"{decoder_sizes[-1]}"
            )
        super().__init__(**kwargs)
        self.latent_encoder_sizes = list(latent_encoder_sizes)
        self.num_latents = num_latents
        self.decoder_sizes = list(decoder_sizes)
        self.use_deterministic_path = use_deterministic_path
        self.deterministic_encoder_sizes = list(
            deterministic_encoder_sizes or latent_encoder_sizes
        )
        self._make_latent_path()
        self._decoder = self._perceptron(self.decoder_sizes, "decoder")
        self.attention = None
        if use_deterministic_path:
            self._deterministic = self._perceptron(
                self.deterministic_encoder_sizes, "deterministic_encoder"
            )
            self.attention = attention_wrapper or Attention(
                "identity", None, "uniform", dtype=self.dtype_policy, name="attention"
            )

    @property
    def attention_wrapper(self):
        """The attention, as the constructor calls it."""
        return self.attention

    def _perceptron(self, sizes, name):
        return multilayer_perceptron(sizes, self.dtype_policy, name)

    def _make_latent_path(self):
        def dense(units, name, activation=None):
            return tf.keras.layers.Dense(
                units, activation, dtype=self.dtype_policy, name=name
            )

        width = (self.latent_encoder_sizes[-1] + self.num_latents) // 2
        self._latent = self._perceptron(self.latent_encoder_sizes, "latent_encoder")
        self._latent_hidden = dense(width, "latent_hidden", "relu")
        self._latent_mean = dense(self.num_latents, "latent_mean")
        self._latent_scale = dense(self.num_latents, "latent_scale")

    def build(self, input_shape):
        (context_x, context_y), target_x = input_shape
        context_x, context_y, target_x = (
            tf.TensorShape(shape) for shape in (context_x, context_y, target_x)
        )
        pairs = context_x[:-1].concatenate(context_x[-1] + context_y[-1])
        self._latent.build(pairs)
        self._latent_hidden.build([None, self.latent_encoder_sizes[-1]])
        for layer in (self._latent_mean, self._latent_scale):
            layer.build([None, self._latent_hidden.units])
        size = self.num_latents
        if self.use_deterministic_path:
            self._deterministic.build(pairs)
            size += self.deterministic_encoder_sizes[-1]
            hidden = pairs[:-1].concatenate(self.deterministic_encoder_sizes[-1])
            if not self.attention.built:
                self.attention.build([context_x, target_x, hidden])
        self._decoder.build(target_x[:-1].concatenate(size + target_x[-1]))
        self.built = True  # `tf.keras.Model.build` takes one shape.

    def call(self, query, target_y=None):
        """Predictions at targets.

        Args:
            query: ((context_x [batch, contexts, features], context_y [batch, contexts,
                size]), target_x [batch, targets, features]).
            target_y: [batch, targets, size]; while training only.

        Returns:
            Normal random variable with batch [batch, targets] and event [size].
        """
        (context_x, context_y), target_x = query
        latent = self.latent_encoder(context_x, context_y)
        if target_y is not None:
            prior, latent = latent, self.latent_encoder(target_x, target_y)
            kl = tfd.kl_divergence(latent.distribution, prior.distribution)
            self.add_loss(mean_cost(tf.reduce_sum(kl, -1)))
        value = tf.cast(latent.value, self.compute_dtype)[:, tf.newaxis]
        representation = tf.repeat(value, tf.shape(target_x)[1], axis=1)
        if self.use_deterministic_path:
            path = self.deterministic_encoder(context_x, context_y, target_x)
            representation = tf.concat([path, representation], -1)
        return self.decoder(representation, target_x)

    def latent_encoder(self, x, y):
        """Distribution of the latent variable given observations.

        Args:
            x: [batch, observations, features].
            y: [batch, observations, size].

        Returns:
            Normal random variable [batch, num_latents], scale in [0.1, 1].
        """
        hidden = self._latent(tf.concat([x, y], -1))
        hidden = self._latent_hidden(tf.reduce_mean(hidden, axis=1))
        mean, scale = (
            tf.cast(layer(hidden), parameter_dtype(self))
            for layer in (self._latent_mean, self._latent_scale)
        )
        scale = 0.1 + 0.9 * tf.sigmoid(scale)
        return distributions.Normal(mean, scale, name=f"{self.name}/latent")

    def deterministic_encoder(self, x, y, target_x):
        """What each target takes from the contexts.

        Args:
            x: [batch, contexts, features].
            y: [batch, contexts, size].
            target_x: [batch, targets, features].

        Returns:
            [batch, targets, last of deterministic_encoder_sizes].
        """
        hidden = self._deterministic(tf.concat([x, y], -1))
        return self.attention(x, target_x, hidden)

    def decoder(self, representation, target_x):
        """Distribution of y at targets.

        Args:
            representation: [batch, targets, size of latent and deterministic path].
            target_x: [batch, targets, features].

        Returns:
            Normal random variable with batch [batch, targets] and event [size], scale
            above 0.1.
        """
        hidden = self._decoder(tf.concat([representation, target_x], -1))
        mean, scale = tf.split(tf.cast(hidden, parameter_dtype(self)), 2, axis=-1)
        scale = 0.1 + 0.9 * tf.nn.softplus(scale)
        return distributions.MultivariateNormalDiag(mean, scale, name=self.name)
