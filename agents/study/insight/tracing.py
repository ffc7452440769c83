"""Graphs that are traced once for sequences of every length."""

import functools
import inspect

import tensorflow as tf


def traced_once(**time_axes):
    """Makes a function a `tf.function` that leaves the lengths of some axes open.

    A trace for each length of an episode takes seconds, and TensorFlow keeps every one.

    Args:
        **time_axes: for each argument with an axis of time, the number of that axis; the
            argument may be a nest of tensors.

    Example:
        >>> @traced_once(rows=0)
        ... def total(rows):
        ...     return tf.reduce_sum(rows)
        >>> float(total(tf.ones([2]))), float(total(tf.ones([3])))
        (2.0, 3.0)
        >>> total.graph.experimental_get_tracing_count()
        1
    """

    def decorate(function):
        graph = tf.function(function, autograph=False)
        signature = inspect.signature(function)

        @functools.wraps(function)
        def call(*args, **kwargs):
            given = signature.bind(*args, **kwargs).arguments
            tensors, specs = {}, {}
            for name, axis in time_axes.items():
                tensors[name] = tf.nest.map_structure(tf.convert_to_tensor, given[name])
                leave_open = functools.partial(_leave_open, axis)
                specs[name] = tf.nest.map_structure(leave_open, tensors[name])
            concrete = graph.get_concrete_function(**(given | specs))
            return concrete(**(given | tensors))

        call.graph = graph
        return call

    return decorate


def _leave_open(axis, tensor):
    shape = tensor.shape.as_list()
    shape[axis] = None
    return tf.TensorSpec(shape, tensor.dtype)
