"""Radial flows: they push points away from a center, or pull them towards it."""

import tensorflow as tf
import tensorflow_probability as tfp


def radial_parameters(alpha_prime, beta_prime):
    """(alpha, beta) that make a radial flow invertible, from unconstrained numbers.

        alpha = softplus(alpha_prime) > 0    beta = softplus(beta_prime) - alpha > -alpha

    Source: Rezende and Mohamed, 2015, Variational Inference with Normalizing Flows,
    appendix A.2.
    """
    alpha = tf.nn.softplus(alpha_prime)
    return alpha, tf.nn.softplus(beta_prime) - alpha


def radial_flow(points, center, alpha, beta):
    """Radial flow, [..., dim], and the log determinant of its Jacobian, [...].

        outputs = points + beta h (points - center)    h = 1 / (alpha + |points - center|)
        log_det = (dim - 1) log(1 + beta h) + log(1 + beta h - beta h^2 |points - center|)

    with alpha above 0 and beta above -alpha, [...].

    Source: Rezende and Mohamed, 2015, Variational Inference with Normalizing Flows,
    equations 14 and 15.
    """
    offset = points - center
    distance = _norm(offset)
    h = 1 / (alpha + distance)
    log_det = (offset.shape[-1] - 1) * tf.math.log1p(beta * h)
    log_det += tf.math.log1p(beta * h - beta * tf.square(h) * distance)
    return points + (beta * h)[..., tf.newaxis] * offset, log_det


def inverse_radial_flow(outputs, center, alpha, beta):
    """Points [..., dim] from what `radial_flow` makes of them.

    Their distance to the center is the positive root of

        distance^2 + (alpha + beta - s) distance - alpha s = 0    s = |outputs - center|
    """
    offset = outputs - center
    size = _norm(offset)
    linear = alpha + beta - size
    root = tf.sqrt(tf.square(linear) + 4 * alpha * size)
    # Of the two forms of the root, each loses its digits where the other is exact.
    distance = tf.where(
        linear > 0, 2 * alpha * size / (root + tf.abs(linear)), (root - linear) / 2
    )
    return center + offset / (1 + beta / (alpha + distance))[..., tf.newaxis]


def _norm(offset):
    """[...], length of vectors, with gradient 0 at the center."""
    squared = tf.reduce_sum(tf.square(offset), axis=-1)
    is_center = tf.equal(squared, 0)
    safe = tf.where(is_center, tf.ones_like(squared), squared)
    return tf.where(is_center, tf.zeros_like(squared), tf.sqrt(safe))


class ReversedRadialFlow(tfp.bijectors.Bijector):
    """Bijector whose inverse is a radial flow, with trainable center and strength.

    Densities of transformed variables need the inverse, so it is the direction without a
    root. See `radial_flow` for the formulas.

    Source: Charpentier et al., 2020, Posterior Network, section 3; Rezende and Mohamed,
    2015, Variational Inference with Normalizing Flows, section 4.1.

    Args:
        dim: size of the vectors.
        x0: [dim], initial center; by default uniform in +-1 / sqrt(dim).
        alpha_prime_init: initial alpha before its softplus, likewise.
        beta_prime_init: initial beta + alpha before its softplus, likewise.
        validate_args: as in `tfp.bijectors.Bijector`.
        name: of the bijector.

    Example:
        >>> import tensorflow as tf
        >>> flow = ReversedRadialFlow(2, [0.0, 0.0], 0.5, 1.0)
        >>> point = tf.constant([1.0, 2.0])
        >>> bool(tf.reduce_all(abs(flow.inverse(flow.forward(point)) - point) < 1e-5))
        True
    """

    def __init__(
        self,
        dim,
        x0=None,
        alpha_prime_init=None,
        beta_prime_init=None,
        validate_args=False,
        name="radial",
    ):
        parameters = dict(locals())
        super().__init__(
            forward_min_event_ndims=1,
            validate_args=validate_args,
            dtype=tf.float32,
            parameters=parameters,
            name=name,
        )
        limit = dim**-0.5

        def variable(value, shape, name):
            if value is None:
                value = tf.random.uniform(shape, -limit, limit)
            return tf.Variable(tf.cast(value, tf.float32), name=name)

        self.x0 = variable(x0, [dim], "x0")
        self.alpha_prime = variable(alpha_prime_init, [], "alpha_prime")
        self.beta_prime = variable(beta_prime_init, [], "beta_prime")

    @classmethod
    def _parameter_properties(cls, dtype):
        return {}

    def _flow_parameters(self):
        return self.x0, *radial_parameters(self.alpha_prime, self.beta_prime)

    def _forward(self, x):
        return inverse_radial_flow(x, *self._flow_parameters())

    def _inverse(self, y):
        return radial_flow(y, *self._flow_parameters())[0]

    def _inverse_log_det_jacobian(self, y):
        return radial_flow(y, *self._flow_parameters())[1]
