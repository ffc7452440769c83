"""Optimizers for variables that are split over devices, and for others.

Keras' Adam reads a variable after it has assigned to it. Inside a function that DTensor
splits it then reads the old value, and trains with wrong numbers, without an error. Here
all is computed from what was read before, then all is assigned.
"""

import tensorflow as tf
from tensorflow.experimental import dtensor


class SGD:
    """Gradient descent.

        variable <- variable - learning_rate * gradient

    Args:
        learning_rate: above 0.
    """

    def __init__(self, learning_rate=0.01):
        self.learning_rate = learning_rate
        self.variables = []

    def build(self, variables):
        """Makes the optimizer's own variables, of which it has none."""

    def apply_gradients(self, pairs):
        """Changes variables.

        Args:
            pairs: list of (gradient, variable).
        """
        rate = self.learning_rate
        _assign([(x, x - rate * tf.convert_to_tensor(gradient)) for gradient, x in pairs])


class Adam:
    """Adam, equal to that of Keras.

        mean <- mean + (1 - beta_1) (gradient - mean)
        square <- square + (1 - beta_2) (gradient^2 - square)
        rate = learning_rate sqrt(1 - beta_2^t) / (1 - beta_1^t)
        variable <- variable - rate * mean / (sqrt(square) + epsilon)

    Source: Kingma and Ba, 2015, Adam: A Method for Stochastic Optimization, section 2.

    Args:
        learning_rate: above 0.
        beta_1: how long `mean` remembers.
        beta_2: how long `square` remembers.
        epsilon: above 0.
    """

    def __init__(self, learning_rate=0.001, beta_1=0.9, beta_2=0.999, epsilon=1e-7):
        self.learning_rate = learning_rate
        self.beta_1, self.beta_2 = beta_1, beta_2
        self.epsilon = epsilon
        self.variables = []

    def build(self, variables):
        """Makes a mean and a square for each variable, which lie where it does.

        Args:
            variables: list of those that will be changed.
        """
        self._slots = {x.ref(): [_zeros_like(x), _zeros_like(x)] for x in variables}
        self._steps = _zeros_like(variables[0], shape=[])
        self.variables = [self._steps, *(x for pair in self._slots.values() for x in pair)]

    def apply_gradients(self, pairs):
        """Changes variables; arguments as in `SGD`."""
        steps = self._steps + 1.0
        rate = self.learning_rate * tf.sqrt(1.0 - tf.pow(self.beta_2, steps))
        rate /= 1.0 - tf.pow(self.beta_1, steps)
        new = [(self._steps, steps)]
        for gradient, variable in pairs:
            slots, gradient = self._slots[variable.ref()], tf.convert_to_tensor(gradient)
            mean, square = (tf.convert_to_tensor(slot) for slot in slots)
            mean += (1.0 - self.beta_1) * (gradient - mean)
            square += (1.0 - self.beta_2) * (tf.square(gradient) - square)
            change = rate * mean / (tf.sqrt(square) + self.epsilon)
            new += [*zip(slots, (mean, square), strict=True), (variable, variable - change)]
        _assign(new)


def _assign(new):
    for variable, value in new:
        variable.assign(value)


def _zeros_like(variable, shape=None):
    """Variable of zeros that lies as another one or, of another shape, on all devices."""
    zeros = tf.zeros(variable.shape if shape is None else shape, variable.dtype)
    layout = getattr(variable, "layout", None)
    if layout is None:
        return tf.Variable(zeros, trainable=False)
    if shape is not None:
        layout = dtensor.Layout.replicated(layout.mesh, len(shape))
    replicated = dtensor.Layout.replicated(layout.mesh, layout.rank)
    zeros = dtensor.relayout(dtensor.copy_to_mesh(zeros, replicated), layout)
    return dtensor.DVariable(zeros, trainable=False)
