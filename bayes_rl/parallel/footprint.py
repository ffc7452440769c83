"""What variables take of each device's memory."""

import collections

import tensorflow as tf
from tensorflow.experimental import dtensor


def bytes_per_device(variables):
    """Sizes of what each device really keeps.

    Args:
        variables: list of those that are split by `shard` or made by an optimizer for such.

    Returns:
        Dict of device, such as "GPU:0" -> bytes.
    """
    found = collections.Counter()
    for variable in variables:
        for part in dtensor.unpack(variable.read_value()):
            device = tf.DeviceSpec.from_string(part.device)
            size = part.shape.num_elements() * part.dtype.size
            found[f"{device.device_type}:{device.device_index}"] += size
    return dict(sorted(found.items()))
