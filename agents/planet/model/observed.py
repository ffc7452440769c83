"""An observed array: how networks see it, what they expect of it, and its likelihood."""

import math

import numpy as np
import tensorflow as tf
from tensorflow_probability import distributions as tfd

from agents.planet.model import networks
from agents.planet.model.standardization import PIXEL_FLOOR, Standardizer
from agents.system.seeds import uniform

# Of a learned likelihood: what is predicted better than this counts no more for it.
LEAST_STDDEV = 0.05


class Observed(tf.Module):
    """A vector or an image, with its encoder, its decoder and its likelihood.

        -log N(x | decoder(features), stddev),  summed over the numbers of x

    Its `spec` is float32 [n], or uint8 [size, size, channels]. The name is appended to the
    names of the networks; "": the only array.

    Attributes:
        seen_spec: as the networks see it: images are pooled.
        standardizer: None where `settings.standardize` is false.
        log_stddev: variable, where the likelihood's stddev is learned; else None.
    """

    def __init__(self, spec, settings, dtype="float32", name=""):
        super().__init__(name or "observed")
        self.spec = spec
        self.is_image = networks.is_image(spec)
        self.seen_spec = networks.pooled(spec, settings)
        self._settings = settings
        self.standardizer = self.log_stddev = None
        if settings.standardize:
            floors = {"share": 0.0, "floor": PIXEL_FLOOR} if self.is_image else {}
            self.standardizer = Standardizer(self.seen_spec.shape, **floors)
        if settings.learn_observation_stddev and not self.is_image:
            start = max(settings.observation_stddev, LEAST_STDDEV)
            self.log_stddev = tf.Variable(
                tf.fill(spec.shape, math.log(start)),
                name="observation_log_stddev",
                constraint=lambda stddev: tf.maximum(stddev, math.log(LEAST_STDDEV)),
            )
        self.encoder = networks.make_encoder(self.seen_spec, settings, dtype, name)
        self.decoder = networks.make_decoder(self.seen_spec, settings, dtype, name)

    def see(self, rows):
        """Takes rows [N, *spec] into the statistics."""
        if self.standardizer is not None:
            self.standardizer.update(self._observed(np.float32(rows), 0.5))

    def preprocess(self, array, seed):
        """As the networks get it: `observed`, standardized.

        See `agents.planet.model.standardization`; of images each pixel is, so that the few
        that move count as much as a vector would, and what never moves hardly at all.
        """
        array = self.observed(array, seed)
        return self.standardizer(array) if self.standardizer else array

    def observed(self, array, seed):
        """In the units of `expected`, float32.

        Vectors are as they are. Images keep 5 bits and are dequantized by uniform noise
        (Kingma and Dhariwal, 2018, Glow, section 4):  floor(x / 8) / 32 + U(0, 1 / 32) -
        1 / 2. Then squares of `image_pool` pixels a side are averaged.
        """
        array = tf.cast(array, tf.float32)
        if not self.is_image:
            return array
        noise = tf.ensure_shape(uniform(_shape(array), seed), array.shape)
        return self._observed(array, noise)

    def _observed(self, array, noise):
        """What `observed` returns, of noise in [0, 1); vectors have none."""
        if not self.is_image:
            return array
        image = (tf.floor(array / 8.0) + noise) / 32.0 - 0.5
        return networks.average_pool(image, self._settings.image_pool)

    def to_image(self, expected):
        """Expected images [..., *seen_spec], uint8 and of the true size."""
        pixels = tf.saturate_cast(tf.round((expected + 0.5) * 255.0), tf.uint8)
        return networks.enlarge(pixels, self._settings.image_pool)

    def encode(self, preprocessed):
        """[..., *seen_spec] -> [..., E]."""
        return over_leading_axes(self.encoder, preprocessed, len(self.spec.shape))

    def decode(self, features):
        """Features [..., F] -> mean of what is preprocessed, [..., *seen_spec]."""
        return over_leading_axes(self.decoder, features, 1)

    def expected(self, features):
        """As `decode`, in the units of `observed`."""
        decoded = self.decode(features)
        return self.standardizer.invert(decoded) if self.standardizer else decoded

    @property
    def stddev(self):
        """The likelihood's, of `expected`: [], or one for each number."""
        unit = self.standardizer.stddev if self.standardizer else tf.constant(1.0)
        return self._stddev() * unit

    def _stddev(self):
        """The likelihood's, of what is preprocessed, [] or [n]."""
        if self.log_stddev is None:
            return tf.constant(self._settings.observation_stddev)
        return tf.exp(self.log_stddev)

    def loss(self, features, preprocessed):
        """Negative log likelihood, nats, [...]."""
        normal = tfd.Normal(self.decode(features), self._stddev())
        likelihood = tfd.Independent(normal, len(self.spec.shape))
        return -likelihood.log_prob(preprocessed)


def over_leading_axes(network, inputs, rank):
    """Applies a network of inputs [N, ...] of `rank` axes to any number of leading axes."""
    leading = tf.shape(inputs)[: inputs.shape.rank - rank]
    event = inputs.shape[inputs.shape.rank - rank :]
    outputs = tf.cast(network(tf.reshape(inputs, [-1, *event])), tf.float32)
    return tf.reshape(outputs, tf.concat([leading, outputs.shape[1:]], 0))


def _shape(tensor):
    """As numbers where they are known: XLA must know how much it draws."""
    return tensor.shape if tensor.shape.is_fully_defined() else tf.shape(tensor)
