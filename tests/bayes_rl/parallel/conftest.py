import pytest
import tensorflow as tf

from bayes_rl import parallel


@pytest.fixture(autouse=True)
def plain_programs():
    """To optimize the program of each device takes most of the time."""
    before = tf.config.optimizer.get_experimental_options()
    tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})
    yield
    switch = before.get("disable_meta_optimizer", False)
    tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": switch})


@pytest.fixture(params=["1x2", "2x1"])
def mesh(request):
    return parallel.make_mesh(request.param)
