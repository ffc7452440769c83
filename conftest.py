"""Settings of all tests, made before TensorFlow looks at the machine."""

import gc
import itertools
import os

import pytest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
# Programs run once; to optimize them takes longer than that.
os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0")

import tensorflow as tf  # noqa: E402

# Two devices on every machine, so that replicas can be tested.
_CPU = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(
    _CPU, [tf.config.LogicalDeviceConfiguration()] * 2
)

_TESTS = itertools.count(1)


def pytest_collection_finish():
    """What is imported stays, and need not be searched for garbage."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def _collect_garbage():
    """TensorFlow's graphs are cycles; Python alone would let them grow to gigabytes.

    What survives, such as fixtures, is set apart: to search it again and again takes longer
    than the tests. Now and then it is searched after all.
    """
    yield
    tests = next(_TESTS)
    if tests % 400 == 0:
        gc.unfreeze()
    if tests % 20 == 0:
        gc.collect()
        gc.freeze()
