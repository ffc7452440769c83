"""How exact what is uncertain has to be."""

import tensorflow as tf


def parameter_dtype(layer):
    """Type of a layer's distributions: that of its variables, at least float32."""
    dtype = tf.as_dtype(layer.variable_dtype)
    return dtype if dtype.size >= 4 else tf.float32
