"""Replicas of a model on devices side by side: which rows are whose, and sums over all."""

from agents.system.lazy import tf


def count():
    """How many replicas compute a gradient step."""
    return tf.distribute.get_strategy().num_replicas_in_sync


def number():
    """The number of the replica that runs this, an int32 tensor."""
    context = tf.distribute.get_replica_context()
    return tf.cast(context.replica_id_in_sync_group if context else 0, tf.int32)


def own_rows(tensor, size, replica):
    """A replica's `size` rows of a tensor with a row for each global example."""
    if count() == 1:
        return tensor
    start = replica * size
    return tensor[start : start + size]


def summed(tensors):
    """A nest of tensors, each summed over replicas."""
    if count() == 1 or not tf.nest.flatten(tensors):
        return tensors
    return tf.distribute.get_replica_context().all_reduce("sum", tensors)


def of_all(tensor):
    """The rows of all replicas, one after another."""
    if count() == 1:
        return tensor
    whole = tf.distribute.get_replica_context().all_gather(tensor, axis=0)
    return tf.ensure_shape(whole, [tensor.shape[0] * count(), *tensor.shape[1:]])


def told_by_all(devices, numbers):
    """What each replica's process says, for those that learn together.

    Each says equally many whole numbers; int64 [replicas, len(numbers)]. The devices are a
    `tf.distribute.Strategy`.
    """

    @tf.function
    def ask():
        return devices.run(lambda: of_all(tf.constant([numbers], tf.int64)))

    return devices.experimental_local_results(ask())[0].numpy()
