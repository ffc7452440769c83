"""Linearized: a model as a linear function of changes of its variables."""

import tensorflow as tf

from bayes_rl.weights import named_variables


class Linearized(tf.keras.Model):
    """The tangent of a model at given weights.

        outputs = f(inputs) + J(inputs) change,  J = d f / d weights

    Source: Immer et al., 2021, Improving predictions of Bayesian neural nets via local
    linearization, equation 6.

    Args:
        model: Keras model, not changed.
        mean: dict of name -> array, the weights; the others are those of the model.
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
        changes = [tf.convert_to_tensor(x) for x in self._changes]
        primals = list(self._at.values())
        with tf.autodiff.ForwardAccumulator(primals, changes) as forward:
            outputs = self._function(inputs, dict(zip(self._at, primals, strict=True)))
        return outputs + forward.jvp(outputs, tf.UnconnectedGradients.ZERO)


def _function_of(model):
    # A closure, as an attribute would make the model a part of this one.
    from bayes_rl.weights import hold

    named_variables(model)

    def function(inputs, weights):
        with hold(model, weights):
            return model(inputs, training=False)

    return function
