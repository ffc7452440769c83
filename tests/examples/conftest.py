import pytest
import tensorflow as tf


@pytest.fixture
def in_eager_mode():
    """Functions run line by line: a few steps are over before they were traced."""
    tf.config.run_functions_eagerly(True)
    yield
    tf.config.run_functions_eagerly(False)
