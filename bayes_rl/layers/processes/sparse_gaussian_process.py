"""SparseGaussianProcess: variational posterior over functions by inducing variables."""

import tensorflow as tf

from bayes_rl import checks, initializers, regularizers
from bayes_rl.layers.base import StochasticLayer, WeightAttribute
from bayes_rl.layers.processes.gaussian_process import GaussianProcessBase
from bayes_rl.numerics.linear_algebra import double
from bayes_rl.random_variables.columns import MultivariateNormalColumns
from bayes_rl.random_variables.families import normal_parameters
from bayes_rl.serialization import register
from bayes_rl.weights import held


@register
class SparseGaussianProcess(StochasticLayer, GaussianProcessBase):
    """Gaussian process layer whose posterior is that of inducing variables.

        f(z) = m(z) + L v,  L L^T = K(z, z),  v ~ q(v) = Normal(mean, S)
        outputs = m(x) + P v + residual,  P = K(x, z) L^-T
        residual ~ Normal(0, K(x, x) - P P^T)

    with inducing inputs z and whitened inducing outputs v, whose prior is Normal(0, I) and
    whose KL, in `losses`, is that of the function. So

        mean log likelihood - sum(losses) / number of examples

    is a bound on the log evidence per example. Outputs are random variables [batch, units]
    with v integrated out in closed form: `mean`, `variance`, `covariance` [units, batch,
    batch] and `log_prob` are those of q(f). Where v is held (`bayes_rl.hold`) or traced,
    they are those of f given v; held, the value is the mean of f given v, one function of
    the inputs.

    Source: Hensman et al., 2013, Gaussian Processes for Big Data; Salimbeni and
    Deisenroth, 2017, Doubly Stochastic Variational Inference for Deep Gaussian Processes,
    section 2; whitening: Murray and Adams, 2010, Slice Sampling Covariance
    Hyperparameters of Latent Gaussian Models, section 2.1.

    Args:
        units: number of functions, at least 1.
        num_inducing: number of inducing inputs, at least 1.
        mean_fn, covariance_fn: as in `GaussianProcess`.
        inducing_inputs_initializer: of z [num_inducing, features].
        inducing_outputs_initializer: q(v), [num_inducing, units]; 'trainable_normal' has a
            diagonal S, 'trainable_multivariate_normal' a full one for each unit. An
            ordinary initializer makes v deterministic.
        inducing_inputs_regularizer: of z.
        inducing_outputs_regularizer: cost of q(v); the default prior is whitened.
        inducing_inputs_constraint: Keras constraint of z.
        inducing_outputs_constraint: Keras constraint of v, where it is deterministic.
        **kwargs: of `tf.keras.layers.Layer`.

    Raises:
        ValueError: `units` or `num_inducing` is below 1, or an initializer or regularizer
            is unknown.

    Example:
        >>> import bayes_rl as ed
        >>> layer = ed.layers.SparseGaussianProcess(4, num_inducing=8)
        >>> outputs = layer(tf.ones([2, 3]))
        >>> outputs.shape, outputs.stddev().shape, len(layer.losses)
        (TensorShape([2, 4]), TensorShape([2, 4]), 1)
        >>> layer.inducing_inputs.shape, layer.inducing_outputs.shape
        (TensorShape([8, 3]), TensorShape([8, 4]))
    """

    inducing_inputs = WeightAttribute()
    inducing_outputs = WeightAttribute()

    def __init__(
        self,
        units,
        num_inducing,
        mean_fn=None,
        covariance_fn=None,
        inducing_inputs_initializer="random_normal",
        inducing_outputs_initializer="trainable_normal",
        inducing_inputs_regularizer=None,
        inducing_outputs_regularizer="normal_kl_divergence",
        inducing_inputs_constraint=None,
        inducing_outputs_constraint=None,
        **kwargs,
    ):
        checks.at_least_1(num_inducing=num_inducing)
        super().__init__(units, mean_fn, covariance_fn, **kwargs)
        self.num_inducing = num_inducing
        self.inducing_inputs_initializer = initializers.get(inducing_inputs_initializer)
        self.inducing_outputs_initializer = initializers.get(inducing_outputs_initializer)
        self.inducing_inputs_regularizer = regularizers.get(inducing_inputs_regularizer)
        self.inducing_outputs_regularizer = regularizers.get(inducing_outputs_regularizer)
        get_constraint = tf.keras.constraints.get
        self.inducing_inputs_constraint = get_constraint(inducing_inputs_constraint)
        self.inducing_outputs_constraint = get_constraint(inducing_outputs_constraint)

    def build(self, input_shape):
        features = tf.TensorShape(input_shape)[-self.covariance_fn.feature_ndims :]
        self.inducing_inputs = self._add("inducing_inputs", features)
        self.inducing_outputs = self._add("inducing_outputs", [self.units])
        super().build(input_shape)

    def _add(self, name, shape):
        return self.add_weight(
            name,
            [self.num_inducing, *shape],
            initializer=getattr(self, f"{name}_initializer"),
            regularizer=getattr(self, f"{name}_regularizer"),
            constraint=getattr(self, f"{name}_constraint"),
            # In float16 neighbouring inducing inputs would coincide.
            experimental_autocast=False,
        )

    def call(self, inputs):
        points = self._points(inputs)
        anchors = double(self._draw("inducing_inputs")[0])
        factor = self._factor(anchors)
        outputs, _ = self._draw("inducing_outputs", fresh=False)
        if outputs is not None:
            is_held = held(self, "inducing_outputs") is not None
            return self._given(points, anchors, factor, double(outputs), hold=is_held)
        whitened, scale = self._whitened()
        return self._given(points, anchors, factor, whitened, **scale)

    def _whitened(self):
        """Mean and scale of q(v); a draw and no scale where q is not normal."""
        posterior = self.stochastic_weights["inducing_outputs"].posterior()
        if isinstance(posterior, MultivariateNormalColumns):
            return double(posterior.mean()), {"scale_tril": double(posterior.scale_tril)}
        parameters = normal_parameters(posterior)
        if parameters is None:
            return double(posterior.sample()), {}
        mean, stddev = (tf.broadcast_to(x, posterior.event_shape) for x in parameters)
        return double(mean), {"scale_diag": double(stddev)}
