import pytest
import tensorflow as tf


@pytest.fixture(autouse=True)
def seed():
    tf.keras.utils.set_random_seed(1)
