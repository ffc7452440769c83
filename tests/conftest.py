"""What tests of several packages share."""

import pytest


@pytest.fixture
def plain_programs():
    """To optimize the program of each device of a mesh takes most of the time."""
    import tensorflow as tf

    before = tf.config.optimizer.get_experimental_options()
    tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})
    yield
    switch = before.get("disable_meta_optimizer", False)
    tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": switch})
