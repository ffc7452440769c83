"""Jacobians of reversible layers by differentiation."""

import numpy as np
import tensorflow as tf


def randomize(layer, stddev=0.5):
    """Sets all trainable variables to normal draws, so that nothing is near zero."""
    for index, variable in enumerate(layer.trainable_variables):
        draw = tf.random.stateless_normal(variable.shape, [5, index], dtype=variable.dtype)
        variable.assign(stddev * draw)


def log_det_of_inverse(layer, inputs):
    """Gives log |dx/dy| at layer(inputs), [batch], from the Jacobian of the call."""
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        outputs = layer(inputs)
    jacobian = tape.batch_jacobian(outputs, inputs)
    size = np.prod(inputs.shape[1:])
    return -tf.linalg.slogdet(tf.reshape(jacobian, [-1, size, size]))[1]
