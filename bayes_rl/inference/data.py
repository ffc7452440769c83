"""Training data as batches."""

import tensorflow as tf

from bayes_rl import checks


def batches_of(data, batch_size):
    """Batches of inputs and targets: a dataset of a pair of such, or a finite one as it is.

    Raises:
        ValueError: they are no pair, or never end.
    """
    if isinstance(data, tf.data.Dataset):
        checks.finite(data)
        return data
    if not isinstance(data, (tuple, list)) or len(data) != 2:
        raise ValueError(
            "data must be a pair (inputs, targets) or a tf.data.Dataset of batches of "
            f"such, got {type(data).__name__}"
        )
    # A dataset would make one tensor of a list.
    data = tuple(tuple(part) if isinstance(part, list) else part for part in data)
    batch_size = checks.as_size("batch_size", batch_size)
    return tf.data.Dataset.from_tensor_slices(data).batch(batch_size)
