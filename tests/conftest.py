"""What tests of several packages share."""

import pytest


@pytest.fixture(autouse=True, scope="session")
def plain_programs():
    """To optimize a graph that runs a few times takes longer than to run it as it is."""
    import tensorflow as tf

    tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})
