"""GaussianProcess: exact prior and posterior over functions."""

import tensorflow as tf

from bayes_rl.layers.processes import parameters
from bayes_rl.layers.processes.gaussian_process_base import GaussianProcessBase
from bayes_rl.linear_algebra import double, solve_lower
from bayes_rl.serialization import register


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
            incomplete or of a wrong shape.

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
        if isinstance(noise_variance, (int, float)) and noise_variance < 0:
            raise ValueError(f"noise_variance must not be negative, got {noise_variance}")
        self.noise_variance = parameters.from_config(noise_variance)
        self._check_data()

    def _check_data(self):
        inputs, outputs = self.conditional_inputs, self.conditional_outputs
        if (inputs is None) != (outputs is None):
            raise ValueError(
                "give both conditional_inputs and conditional_outputs, or none"
            )
        if inputs is None:
            return
        expected = inputs.shape[0], self.units
        if tuple(outputs.shape) != expected:
            raise ValueError(
                f"conditional_outputs must have shape {expected}, that is "
                f"[number of conditional_inputs, units], got {tuple(outputs.shape)}"
            )

    def call(self, inputs):
        points = self._points(inputs)
        if self.conditional_inputs is None:
            return self._prior(points, self.noise_variance)
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
