"""GaussianProcess: exact prior and posterior over functions."""

import tensorflow as tf

from bayes_rl import checks
from bayes_rl.distributions import make_random_variable
from bayes_rl.layers import products
from bayes_rl.layers.precision import parameter_dtype
from bayes_rl.layers.processes import covariances, parameters
from bayes_rl.numerics.linear_algebra import double, solve_lower, stable_cholesky
from bayes_rl.random_variables.columns import MultivariateNormalColumns
from bayes_rl.serialization import configured, register

# Where the variance is 0, as that of a linear kernel is at the origin, a draw is the mean.
_LEAST_VARIANCE = 1e-200
_random_columns = make_random_variable(MultivariateNormalColumns)


@configured
class GaussianProcessBase(tf.keras.layers.Layer):
    """What exact and sparse Gaussian processes share: independent processes, one a unit.

    Linear algebra is in float64 whatever the layer's type, with a jitter of 1e-8 of the
    variance (1e-6 for kernels with float32 parameters), more where that is not enough.
    Arguments are those of `GaussianProcess`.
    """

    def __init__(self, units, mean_fn=None, covariance_fn=None, **kwargs):
        checks.at_least_1(units=units)
        # Inputs rounded to float16 are too coarse for a covariance function.
        super().__init__(**{"autocast": False, **kwargs})
        self.units = units
        self.mean_fn = covariances.Zeros() if mean_fn is None else mean_fn
        self.covariance_fn = covariances.get(covariance_fn)

    def _points(self, inputs):
        rank = self.covariance_fn.feature_ndims + 1
        if inputs.shape.rank < rank:
            raise ValueError(
                f"layer {self.name!r} takes inputs [..., batch, *features] of rank {rank} "
                f"at least, got shape {inputs.shape}"
            )
        return double(inputs)

    def _mean(self, points):
        """Prior mean, [..., n, 1] or [..., n, units]."""
        mean = double(self.mean_fn(tf.cast(points, parameter_dtype(self))))
        rank = points.shape.rank - self.covariance_fn.feature_ndims
        return mean[..., tf.newaxis] if mean.shape.rank == rank else mean

    def _jitter(self, covariance):
        variance = tf.reduce_mean(tf.linalg.diag_part(covariance), -1)
        variance = tf.maximum(tf.stop_gradient(variance), _LEAST_VARIANCE)
        return self.covariance_fn.jitter * variance

    def _factor(self, anchors, noise_variance=0.0):
        """Lower triangular L of the covariance at inputs [..., m, features]."""
        covariance = self._noisy(anchors, noise_variance)
        return stable_cholesky(covariance, self._jitter(covariance))

    def _noisy(self, points, noise_variance):
        covariance = self.covariance_fn(points, points)
        noise = parameters.value_of(noise_variance, covariance.dtype)
        diagonal = tf.linalg.diag_part(covariance) + noise
        return tf.linalg.set_diag(covariance, diagonal)

    def _prior(self, points, noise_variance):
        covariance = self._noisy(points, noise_variance)
        shape = [*products.sizes(covariance)[:-1], self.units]
        loc = tf.broadcast_to(self._mean(points), shape)
        return self._random_variable(loc, covariance, self._jitter(covariance))

    def _given(self, points, anchors, factor, whitened, hold=False, **scale):
        """Outputs [..., n, units] given the values at anchors, which are mean + L whitened.

            projection = K(points, anchors) L^-T
            outputs ~ Normal(mean + projection whitened, K - projection projection^T)

        and, where `whitened`, [m, units] or [S, m, units], has a `scale_diag` or
        `scale_tril`, its part added. With `hold` the value is the mean, not a draw.
        """
        cross = self.covariance_fn(anchors, points)
        projection = tf.linalg.matrix_transpose(solve_lower(factor, cross))
        prior = self.covariance_fn(points, points)
        explained = tf.matmul(projection, projection, transpose_b=True)
        loc = self._mean(points) + products.dense(projection, whitened)
        jitter = self._jitter(prior)
        if scale:
            scale = {**scale, "projection": projection}
        return self._random_variable(loc, prior - explained, jitter, hold, **scale)

    def _random_variable(self, loc, covariance, jitter, hold=False, **scale):
        dtype = parameter_dtype(self)
        if hold:
            scale["value"] = tf.cast(loc, dtype)
        return _random_columns(
            loc, covariance, jitter=jitter, dtype=dtype, name=self.name, **scale
        )

    def compute_output_shape(self, input_shape):
        shape = tf.TensorShape(input_shape)
        return shape[: -self.covariance_fn.feature_ndims].concatenate(self.units)


@register
class GaussianProcess(GaussianProcessBase):
    """Gaussian process layer: the prior or, given data, the exact posterior of functions.

        prior:     outputs[:, u] ~ Normal(m(x), K(x, x) + noise_variance I)
        posterior: outputs[:, u] ~ Normal(m(x) + K(x, z) A (y[:, u] - m(z)),
                                          K(x, x) - K(x, z) A K(z, x))
                   A = (K(z, z) + noise_variance I)^-1

    The whole batch x is one joint draw of each unit's function; leading axes before it are
    separate draws. Outputs are random variables [batch, units] with `mean`, `variance`,
    `stddev`, `covariance` [units, batch, batch] and `log_prob`; that of the prior is the
    log marginal likelihood of data, by which hyperparameters are learned. The posterior is
    that of the function, without noise. There is nothing to regularize.

    Source: Rasmussen and Williams, 2006, Gaussian Processes for Machine Learning,
    section 2.2; Tran et al., 2019, Bayesian Layers, section 2.2.

    Args:
        units: number of functions, at least 1.
        mean_fn: m, maps [..., n, features] to [..., n] or [..., n, units]; None for 0.
        covariance_fn: K, a covariance function of `bayes_rl.layers`, a kernel of
            `tfp.math.psd_kernels` or a function of two inputs; None for
            `ExponentiatedQuadratic(1, 1)`. Its variables are trained.
        conditional_inputs: z [n, features], inputs of the data, or a variable of them,
            which is trained.
        conditional_outputs: y [n, units], likewise.
        noise_variance: of the data's outputs about the function, not negative; a number,
            variable or `tfp.util.TransformedVariable`.
        **kwargs: of `tf.keras.layers.Layer`.

    Raises:
        ValueError: `units` is below 1, `noise_variance` is negative, or the data are
            incomplete or of a wrong shape; in a call, the inputs have other features.

    Example:
        >>> import bayes_rl as ed
        >>> data = tf.constant([[0.0], [1.0]])
        >>> layer = ed.layers.GaussianProcess(
        ...     1, conditional_inputs=data, conditional_outputs=tf.sin(data))
        >>> outputs = layer(tf.constant([[0.0], [0.5], [1.0]]))
        >>> outputs.shape, outputs.covariance().shape
        (TensorShape([3, 1]), TensorShape([1, 3, 3]))
        >>> [round(float(x), 3) for x in outputs.stddev()[:, 0]]
        [0.0, 0.175, 0.0]
    """

    def __init__(
        self,
        units,
        mean_fn=None,
        covariance_fn=None,
        conditional_inputs=None,
        conditional_outputs=None,
        noise_variance=0.0,
        **kwargs,
    ):
        super().__init__(units, mean_fn, covariance_fn, **kwargs)
        self.conditional_inputs = _data(conditional_inputs)
        self.conditional_outputs = _data(conditional_outputs)
        self.noise_variance = parameters.from_config(noise_variance)
        parameters.check("noise_variance", self.noise_variance)
        self._check_data()

    def _check_data(self):
        inputs, outputs = self.conditional_inputs, self.conditional_outputs
        if (inputs is None) != (outputs is None):
            raise ValueError(
                "give both conditional_inputs and conditional_outputs, or none"
            )
        if inputs is None:
            return
        rank = self.covariance_fn.feature_ndims + 1
        if len(inputs.shape) != rank:
            raise ValueError(
                f"conditional_inputs must have rank {rank}, [number, *features], got "
                f"{tuple(inputs.shape)}"
            )
        expected = (inputs.shape[0], self.units)
        if tuple(outputs.shape) != expected:
            raise ValueError(
                f"conditional_outputs must have shape {expected}, that is "
                f"[number of conditional_inputs, units], got {tuple(outputs.shape)}"
            )

    def _check_features(self, points):
        """Raises a ValueError where points have not the features of the data."""
        features = tf.TensorShape(self.conditional_inputs.shape[1:])
        if not features.is_compatible_with(points.shape[-features.rank :]):
            raise ValueError(
                f"layer {self.name!r} takes inputs of the features {features} of its "
                f"conditional_inputs, got inputs of shape {points.shape}"
            )

    def call(self, inputs):
        points = self._points(inputs)
        if self.conditional_inputs is None:
            return self._prior(points, self.noise_variance)
        self._check_features(points)
        anchors, targets = double(self.conditional_inputs), double(self.conditional_outputs)
        factor = self._factor(anchors, self.noise_variance)
        whitened = solve_lower(factor, targets - self._mean(anchors))
        return self._given(points, anchors, factor, whitened)

    def get_config(self):
        config = super().get_config()
        for name in ("conditional_inputs", "conditional_outputs", "noise_variance"):
            config[name] = parameters.to_config(getattr(self, name), self.name)
        return config


def _data(data):
    data = parameters.from_config(data)
    if data is None or isinstance(data, tf.Variable):
        return data
    return tf.convert_to_tensor(data).numpy()
