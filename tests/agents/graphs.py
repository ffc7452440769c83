"""Whether TensorFlow makes graphs of functions."""

import contextlib

import tensorflow as tf


@contextlib.contextmanager
def without_graphs():
    """To trace them takes longer than a few steps do."""
    tf.config.run_functions_eagerly(True)
    try:
        yield
    finally:
        tf.config.run_functions_eagerly(False)
