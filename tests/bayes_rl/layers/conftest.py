import pytest
import tensorflow as tf


@pytest.fixture(scope="session")
def two_devices():
    """Mirrored strategy over two virtual CPU devices."""
    return tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
