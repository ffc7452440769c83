"""Sums over the replicas of a distribution strategy."""

import tensorflow as tf


def mean_over_replicas(tensor):
    """Mean of a tensor over the replicas that compute it; itself where there is one.

    Args:
        tensor: floating, of the same shape in each replica.

    Returns:
        Tensor of that shape, the same in each replica; gradients flow to all.

    Example:
        >>> float(mean_over_replicas(tf.constant(2.0)))
        2.0
    """
    context = tf.distribute.get_replica_context()
    if context is None or context.num_replicas_in_sync == 1:
        return tensor
    return context.all_reduce(tf.distribute.ReduceOp.MEAN, tensor)
