"""Linearized: a model as a linear function of changes of its variables."""

import tensorflow as tf

from bayes_rl.weights import named_variables

_ZERO = tf.UnconnectedGradients.ZERO


class Linearized(tf.keras.Model):
    """The tangent of a model at given weights, a dict of name -> array.

        outputs = f(inputs) + J(inputs) change,  J = d f / d weights

    Source: Immer et al., 2021, Improving predictions of Bayesian neural nets via local
    linearization, equation 6.
    """

    def __init__(self, model, mean):
        super().__init__(name="linearized")
        self._at = {name: tf.constant(value) for name, value in mean.items()}
        self._function = _function_of(model)
        self._changes = [
            self.add_weight(f"change_{i}", value.shape, value.dtype, trainable=False)
            for i, value in enumerate(mean.values())
        ]
        self.built = True

    def call(self, inputs, training=None):
        weights = list(self._at.values())
        # J change is the derivative by v of v' J change: loops have that twice backwards,
        # and not forwards.
        with tf.GradientTape(watch_accessed_variables=False) as outer:
            with tf.GradientTape(watch_accessed_variables=False) as inner:
                inner.watch(weights)
                outputs = self._function(inputs, dict(zip(self._at, weights, strict=True)))
            factors = tf.zeros_like(outputs)
            outer.watch(factors)
            gradients = inner.gradient(outputs, weights, factors, _ZERO)
            pairs = zip(gradients, self._changes, strict=True)
            product = tf.add_n([tf.reduce_sum(g * x) for g, x in pairs])
        return outputs + outer.gradient(product, factors, unconnected_gradients=_ZERO)


def _function_of(model):
    # A closure, as an attribute would make the model a part of this one.
    from bayes_rl.weights import hold

    named_variables(model)

    def function(inputs, weights):
        with hold(model, weights):
            return model(inputs, training=False)

    return function
