"""ReversibleLayer: what every layer with an inverse shares, and Reverse of one."""

import tensorflow as tf

from bayes_rl.random_variables.random_variable import RandomVariable
from bayes_rl.random_variables.transformed import push
from bayes_rl.serialization import register


class ReversibleLayer:
    """Mixin, left of a Keras layer: `layer(random_variable)` is a random variable.

        y = call(x),  x = reverse(y),  log_det_jacobian(y) = log |dx/dy|

    `log_det_jacobian` takes the *output* and drops the axes that the layer mixes, which
    are the last `event_ndims`: none where it works element by element (then the result has
    the shape of y), 1 for vectors ([..., d] to [...]), 2 for [length, channels]. A scalar
    holds for each of them: each element, each vector.

    A layer may say more of itself: `is_constant_jacobian`, and `output_mean`,
    `output_variance`, `output_mode`, each a function of the input's distribution.

    Source: Tran et al., 2019, Bayesian Layers, section 2.4.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> class Flip(ReversibleLayer, tf.keras.layers.Layer):
        ...     event_ndims = 1
        ...     def call(self, inputs):
        ...         return inputs[..., ::-1]
        ...     def reverse(self, outputs):
        ...         return outputs[..., ::-1]
        ...     def log_det_jacobian(self, outputs):
        ...         return tf.zeros(tf.shape(outputs)[:-1], outputs.dtype)
        >>> y = Flip()(ed.Normal([0.0, 5.0], 1.0))
        >>> bool(y.log_prob([5.0, 0.0]) > y.log_prob([0.0, 5.0]))
        True
    """

    event_ndims = 0
    is_constant_jacobian = False

    def __call__(self, inputs, *args, **kwargs):
        if isinstance(inputs, RandomVariable):
            return push(inputs, self)
        return super().__call__(inputs, *args, **kwargs)

    def compute_output_shape(self, input_shape):
        return input_shape

    def reverse(self, outputs):
        """Inputs [..., *event] for which `call` gives these outputs [..., *event]."""
        raise NotImplementedError(f"layer {self.name!r} has no reverse")

    def log_det_jacobian(self, outputs):
        """Gives log |dx/dy| at the outputs [..., *event]: [...]."""
        raise NotImplementedError(
            f"layer {self.name!r} has no log_det_jacobian, which log_prob needs"
        )


class ElementwiseAffine(ReversibleLayer):
    """Mixin of reversible layers y = scale * x + shift, element by element.

    Mean, mode, variance and entropy of the output then follow from those of the input.
    Where a call does more than that, `affine` says what the map is.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> class Negate(ElementwiseAffine, tf.keras.layers.Layer):
        ...     def call(self, inputs):
        ...         return -inputs
        ...     def reverse(self, outputs):
        ...         return -outputs
        ...     def log_det_jacobian(self, outputs):
        ...         return tf.zeros_like(outputs)
        >>> float(Negate()(ed.Normal(3.0, 1.0)).mean())
        -3.0
    """

    is_constant_jacobian = True

    def affine(self, inputs):
        """Gives scale * inputs + shift."""
        return self(inputs)

    def output_mean(self, distribution):
        """Mean of the output, from the input's distribution."""
        return self.affine(distribution.mean())

    def output_mode(self, distribution):
        """Mode of the output, from the input's distribution."""
        return self.affine(distribution.mode())

    def output_variance(self, distribution):
        """Variance of the output, element by element, from the input's distribution."""
        variance = distribution.variance()
        scale = self.affine(tf.ones_like(variance)) - self.affine(tf.zeros_like(variance))
        return tf.square(scale) * variance


@register
class Reverse(ReversibleLayer, tf.keras.layers.Layer):
    """Swaps `call` and `reverse` of a layer.

        call(x) = layer.reverse(x),  reverse(y) = layer(y)
        log |dx/dy| at y = -layer.log_det_jacobian(layer(y))

    A layer without `reverse` is no error before it is needed.

    Source: Tran et al., 2019, Bayesian Layers, section 2.4.

    Args:
        reversible_layer: layer with `reverse` and, for densities, `log_det_jacobian`.
        **kwargs: of `tf.keras.layers.Layer`.

    Raises:
        NotImplementedError: the call, when the layer has no `reverse`.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> flow = ed.layers.RealNVP(tf.keras.layers.Dense(4), mask=[1, 0])
        >>> x = tf.ones([5, 2])
        >>> bool(tf.reduce_all(abs(ed.layers.Reverse(flow)(flow(x)) - x) < 1e-6))
        True
    """

    def __init__(self, reversible_layer, **kwargs):
        super().__init__(**kwargs)
        self.reversible_layer = reversible_layer

    @property
    def event_ndims(self):
        """Number of axes that the layer mixes."""
        return getattr(self.reversible_layer, "event_ndims", 0)

    @property
    def is_constant_jacobian(self):
        """Whether the Jacobian is the same everywhere."""
        return getattr(self.reversible_layer, "is_constant_jacobian", False)

    def build(self, input_shape):
        if not self.reversible_layer.built:
            self.reversible_layer.build(input_shape)
        super().build(input_shape)

    def call(self, inputs):
        return self._method("reverse")(inputs)

    def reverse(self, outputs):
        """Inputs for which `call` gives these outputs: what the layer makes of them."""
        return self.reversible_layer(tf.convert_to_tensor(outputs))

    def log_det_jacobian(self, outputs):
        inputs = self.reverse(outputs)
        return -self._method("log_det_jacobian")(inputs)

    def _method(self, name):
        method = getattr(self.reversible_layer, name, None)
        if method is None:
            layer = self.reversible_layer
            raise NotImplementedError(
                f"{type(layer).__name__} layer {layer.name!r} has no {name}, so "
                f"{self.name!r} cannot reverse it"
            )
        return method
