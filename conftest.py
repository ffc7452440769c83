"""Settings of all tests, made before TensorFlow looks at the machine."""

import gc
import importlib.util
import itertools
import os
import signal

import pytest

import envs  # noqa: F401  chooses Keras, before a test imports TensorFlow

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
# Some layouts and dilations of convolutions TensorFlow has by oneDNN alone, which it leaves
# out on processors without AVX-512 unless told otherwise.
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")
# Programs run once; to optimize them takes longer than that.
os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0")

# Who was started in the background ignores Ctrl-C, and so would the processes that tests
# start and stop by it: each would be waited for.
signal.signal(signal.SIGINT, signal.default_int_handler)

_TESTS = itertools.count(1)

collect_ignore_glob = [
    f"agents/training/trackers/{name}.py"
    for name in ("mlflow", "wandb")
    if not importlib.util.find_spec(name)
]
if not importlib.util.find_spec("ray"):
    collect_ignore_glob += [
        "agents/training/distributed",
        "tests/agents/training/distributed",
        "agents/cli/sweep/in_cluster.py",
        "tests/agents/cli/sweep/test_in_cluster.py",
        "benchmarks/scale/*.py",
        "tests/benchmarks/scale/*.py",
    ]


def pytest_configure(config):
    """Prepares TensorFlow in each process that runs tests; it takes seconds to import."""
    if config.getoption("numprocesses", None) and not hasattr(config, "workerinput"):
        return  # others run them
    import tensorflow as tf

    # Small tensors are no faster on several threads, which keep each other's cores busy.
    tf.config.threading.set_intra_op_parallelism_threads(1)
    # Two devices on every machine, so that replicas can be tested.
    cpu = tf.config.list_physical_devices("CPU")[0]
    two = [tf.config.LogicalDeviceConfiguration()] * 2
    tf.config.set_logical_device_configuration(cpu, two)


def pytest_collection_finish():
    """What is imported stays, and need not be searched for garbage, at each graph again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 20, 20)


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
