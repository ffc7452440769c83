"""Means of the costs of examples, and over replicas of a distribution strategy."""

import tensorflow as tf


def mean_cost(costs):
    """Mean of all elements, []; an empty batch costs nothing."""
    return tf.reduce_sum(costs) / tf.cast(tf.maximum(tf.size(costs), 1), costs.dtype)


def mean_over_replicas(tensor):
    """Mean of a floating tensor over the replicas that compute it; it has gradients."""
    if replica_count() == 1:
        return tensor
    context = tf.distribute.get_replica_context()
    return context.all_reduce(tf.distribute.ReduceOp.MEAN, tensor)


def replica_count():
    """Number of replicas that run the code from which this is called, each for itself."""
    context = tf.distribute.get_replica_context()
    return 1 if context is None else context.num_replicas_in_sync
