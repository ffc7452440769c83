"""Vector quantization: codes from a learned codebook."""

import tensorflow as tf
import tensorflow_probability as tfp
from tensorflow_probability import distributions as tfd

from bayes_rl import checks
from bayes_rl.distributions import make_random_variable
from bayes_rl.layers.precision import parameter_dtype
from bayes_rl.numerics.means import mean_cost
from bayes_rl.serialization import register


def _squared_distances(inputs, codebook):
    """[..., num_codes], squared distance of each vector to each code."""
    products = tf.tensordot(inputs, codebook, [[-1], [-1]])
    sizes = tf.reduce_sum(tf.square(inputs), -1, keepdims=True)
    return sizes - 2 * products + tf.reduce_sum(tf.square(codebook), -1)


class RandomCode(tfd.AutoCompositeTensorDistribution):
    """One row of a codebook [num_codes, size], drawn at random by logits [..., num_codes].

        P(value = codebook_k) = softmax(logits)_k

    Gradients of a draw with respect to the logits are those of the mean (straight-through);
    of the codebook the row that was drawn gets them.

    Source: Bengio et al., 2013, Estimating or Propagating Gradients Through Stochastic
    Neurons for Conditional Computation, section 4.
    """

    def __init__(self, logits, codebook, name="RandomCode"):
        parameters = dict(locals())
        self._logits, self._codebook = logits, codebook
        self._index = tfd.OneHotCategorical(logits=logits, dtype=logits.dtype)
        super().__init__(
            dtype=logits.dtype,
            reparameterization_type=tfd.FULLY_REPARAMETERIZED,
            validate_args=False,
            allow_nan_stats=True,
            parameters=parameters,
            name=name,
        )

    @classmethod
    def _parameter_properties(cls, dtype, num_classes=None):
        return {
            "logits": tfp.util.ParameterProperties(event_ndims=1),
            "codebook": tfp.util.ParameterProperties(event_ndims=2),
        }

    def _event_shape(self):
        return self._codebook.shape[-1:]

    def _event_shape_tensor(self, **parameters):
        del parameters
        return tf.shape(self._codebook)[-1:]

    def _code(self, weights):
        return tf.tensordot(weights, self._codebook, axes=1)

    def _sample_n(self, n, seed=None):
        probabilities = tf.nn.softmax(self._logits)
        index = self._index.sample(n, seed=seed)
        return self._code(index + (probabilities - tf.stop_gradient(probabilities)))

    def index_of(self, value):
        """[...], row of the codebook nearest to `value` [..., size]."""
        return tf.argmin(_squared_distances(value, self._codebook), -1, tf.int32)

    def _log_prob(self, value):
        return tfd.Categorical(logits=self._logits).log_prob(self.index_of(value))

    def _entropy(self):
        return self._index.entropy()

    def _mean(self):
        return self._code(tf.nn.softmax(self._logits))

    def _variance(self):
        deviations = self._codebook - self._mean()[..., tf.newaxis, :]
        probabilities = tf.nn.softmax(self._logits)[..., tf.newaxis]
        return tf.reduce_sum(probabilities * tf.square(deviations), axis=-2)

    def _mode(self):
        return tf.gather(self._codebook, tf.argmax(self._logits, -1))


_make_code = make_random_variable(RandomCode)


@register
class VectorQuantizer(tf.keras.layers.Layer):
    """Replaces each vector along the last axis by a code of a learned codebook.

    Deterministic (default): the nearest code, with the gradient of the outputs passed on to
    the inputs as it is. `losses` holds, averaged over the vectors,

        |stop(inputs) - code|^2 + commitment * |inputs - stop(code)|^2

    of which the first moves the codebook and the second the encoder. Stochastic: a random
    variable over codes with P(code_k) = softmax(-|inputs - code_k|^2 / temperature), an
    `entropy()`, straight-through gradients and no penalties.

    Source: van den Oord et al., 2017, Neural Discrete Representation Learning, equations
    1 to 3; stochastic: Sonderby et al., 2017, Continuous Relaxation Training of Discrete
    Latent Variable Image Models.

    Args:
        num_codes: number of codes, at least 1.
        commitment: weight of the encoder's penalty, beta in the source.
        stochastic: whether the code is drawn at random.
        temperature: above 0, of the random code, in squared units of the inputs.
        codebook_initializer: of the codes; default: uniform in +-1 / num_codes or, for
            random codes, normal with variance `temperature`: codes much closer than that
            are all as likely, and no gradient parts them.
        **kwargs: of `tf.keras.layers.Layer`.

    Raises:
        ValueError: `num_codes` is below 1 or `temperature` not above 0.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> layer = ed.layers.VectorQuantizer(512)
        >>> layer(tf.ones([2, 7, 4])).shape, len(layer.losses)
        (TensorShape([2, 7, 4]), 1)
        >>> layer = ed.layers.VectorQuantizer(512, stochastic=True)
        >>> layer(tf.ones([2, 7, 4])).entropy().shape
        TensorShape([2, 7])
    """

    def __init__(
        self,
        num_codes,
        commitment=0.25,
        stochastic=False,
        temperature=1.0,
        codebook_initializer=None,
        **kwargs,
    ):
        checks.at_least_1(num_codes=num_codes)
        checks.above_0(temperature=temperature)
        super().__init__(**kwargs)
        self.num_codes = num_codes
        self.commitment = commitment
        self.stochastic = stochastic
        self.temperature = temperature
        if codebook_initializer is None and stochastic:
            codebook_initializer = tf.keras.initializers.RandomNormal(
                stddev=temperature**0.5
            )
        elif codebook_initializer is None:
            limit = 1 / num_codes
            codebook_initializer = tf.keras.initializers.RandomUniform(-limit, limit)
        self.codebook_initializer = tf.keras.initializers.get(codebook_initializer)

    def build(self, input_shape):
        self.codebook = self.add_weight(
            "codebook",
            [self.num_codes, input_shape[-1]],
            initializer=self.codebook_initializer,
            dtype=parameter_dtype(self),
            experimental_autocast=False,
        )
        super().build(input_shape)

    def call(self, inputs):
        vectors = tf.cast(inputs, parameter_dtype(self))
        codebook = tf.convert_to_tensor(self.codebook)
        distances = _squared_distances(vectors, codebook)
        if self.stochastic:
            logits = -distances / tf.cast(self.temperature, distances.dtype)
            return _make_code(logits, codebook, name=self.name)
        nearest = tf.one_hot(
            tf.argmin(distances, axis=-1), self.num_codes, dtype=distances.dtype
        )
        codes = tf.tensordot(nearest, codebook, axes=1)
        self.add_loss(self._penalty(vectors, codes))
        outputs = vectors + tf.stop_gradient(codes - vectors)
        return tf.cast(outputs, self.compute_dtype)

    def _penalty(self, vectors, codes):
        def mean_squared_norm(difference):
            return mean_cost(tf.reduce_sum(tf.square(difference), axis=-1))

        commitment = tf.cast(self.commitment, vectors.dtype)
        return mean_squared_norm(
            tf.stop_gradient(vectors) - codes
        ) + commitment * mean_squared_norm(vectors - tf.stop_gradient(codes))

    def compute_output_shape(self, input_shape):
        return tf.TensorShape(input_shape)
