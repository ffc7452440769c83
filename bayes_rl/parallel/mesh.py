"""A mesh of devices, `batch` x `model`, and which weights are split over which axis."""

import re

import tensorflow as tf
from tensorflow.experimental import dtensor

BATCH, MODEL = "batch", "model"

# A rule is a pattern and, for each axis of the weights whose names have it in them, an axis
# of the mesh, or None where it is not split. The first rule that fits counts; a weight that
# none fits is replicated on every device. The parameters of a posterior are split as its
# weight, for their names start with its name: `encoder_0_self/query/kernel/mean`.
#
# Of two products in a row the first is split by columns, which are heads or hidden units,
# and the second by rows, so that devices add up once for both (Shoeybi et al., 2019,
# Megatron-LM, section 3).
TRANSFORMER = (
    (r"(query|key|value|expand)/kernel\b", (None, MODEL)),
    (r"(query|key|value|expand)/bias\b", (MODEL,)),
    (r"(attention_output|contract)/kernel\b", (MODEL, None)),
)


class MeshError(ValueError):
    """A mesh that cannot be, or that does not fit a model; its message is one line."""


def make_mesh(sizes):
    """Arranges the GPUs of this machine or, without any, its CPU devices.

    Args:
        sizes: numbers of devices along `batch` and `model` such as "2x4".

    Returns:
        A `dtensor.Mesh` of the first so many devices. A CPU is one device, until
        `make_virtual_cpus` makes it look like many.

    Raises:
        MeshError: `sizes` is malformed, or there are not so many devices.

    Example:
        >>> mesh = make_mesh("1x2")
        >>> mesh.dim_size("model"), mesh.num_local_devices()
        (2, 2)
    """
    found = re.fullmatch(r"([1-9]\d*)x([1-9]\d*)", sizes)
    if not found:
        raise MeshError(f"mesh must be batch x model devices, such as 2x4; got {sizes!r}")
    rows, columns = map(int, found.groups())
    kind = "GPU" if tf.config.list_physical_devices("GPU") else "CPU"
    there = len(tf.config.list_logical_devices(kind))
    if rows * columns > there:
        raise MeshError(
            f"mesh {sizes} needs {rows * columns} devices, got {there} of kind {kind}; "
            "give a smaller mesh"
        )
    devices = [f"{kind}:{i}" for i in range(rows * columns)]
    return dtensor.create_mesh([(BATCH, rows), (MODEL, columns)], devices=devices)


def make_virtual_cpus(count=8):
    """Makes this machine's CPU look like many, to try a mesh; nothing becomes faster.

    TensorFlow optimizes the program of each device anew, which takes longer than it saves
    here, so that is switched off.

    Args:
        count: number of devices.

    Raises:
        RuntimeError: TensorFlow uses its devices already.
    """
    (cpu,) = tf.config.list_physical_devices("CPU")
    virtual = [tf.config.LogicalDeviceConfiguration()] * count
    tf.config.set_logical_device_configuration(cpu, virtual)
    tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})
