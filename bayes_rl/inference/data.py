"""Training data as batches."""

import tensorflow as tf

from bayes_rl.weights.drawing import as_size


def batches_of(data, batch_size):
    """Batches of inputs and targets: a dataset of a pair of such, or a finite one as it is.

    Raises:
        ValueError: they are no pair, or never end.
    """
    if isinstance(data, tf.data.Dataset):
        if data.cardinality() == tf.data.INFINITE_CARDINALITY:
            raise ValueError(
                "the dataset repeats for ever; give a finite one, such as "
                "dataset.take(number of batches)"
            )
        return data
    if not isinstance(data, (tuple, list)) or len(data) != 2:
        raise ValueError(
            "data must be a pair (inputs, targets) or a tf.data.Dataset of batches of "
            f"such, got {type(data).__name__}"
        )
    # A dataset would make one tensor of a list.
    data = tuple(tuple(part) if isinstance(part, list) else part for part in data)
    return tf.data.Dataset.from_tensor_slices(data).batch(as_size("batch_size", batch_size))
