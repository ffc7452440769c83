"""What tests of the layers share."""

import pytest
import tensorflow as tf


@pytest.fixture(scope="session")
def two_devices():
    """Mirrored strategy over two virtual CPU devices, with keys of its own.

    Sums of two strategies of one process are mixed up unless their keys differ. Tests of
    the agent have one, too, and may run in the same process.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tf.distribute.MirroredStrategy, "_collective_key_base", 1000)
        return tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
