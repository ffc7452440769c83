import numpy as np
import pytest
import tensorflow as tf
from tensorflow_probability import distributions as tfd

import bayes_rl as ed

GRID = np.linspace(0.05, 0.95, 10, dtype="float32")[:, None]


def test_counts_are_poisson_with_the_rate_times_the_volume():
    layer = ed.layers.PoissonProcess(rate=tf.exp, volume=0.1, name="counts")
    outputs = layer(GRID)
    np.testing.assert_allclose(outputs.mean(), 0.1 * np.exp(GRID), rtol=1e-6)
    counts = np.arange(10.0, dtype="float32")[:, None]
    expected = tfd.Poisson(0.1 * np.exp(GRID)).log_prob(counts)
    np.testing.assert_allclose(outputs.log_prob(counts), expected, rtol=1e-6)
    with ed.tape() as tape:
        layer(GRID)
    assert list(tape) == ["counts"]


def test_constant_rate():
    layer = ed.layers.PoissonProcess(rate=3.0)
    np.testing.assert_array_equal(layer(GRID).mean(), np.full([10, 1], 3.0))


def test_log_likelihood_of_events():
    fine = np.linspace(0.0005, 0.9995, 1000, dtype="float32")[:, None]
    layer = ed.layers.PoissonProcess(rate=tf.exp, volume=1e-3)
    events = np.array([[0.2], [0.7]], "float32")
    expected = (0.2 + 0.7) - (np.exp(1.0) - 1.0)
    np.testing.assert_allclose(layer.log_likelihood(events, fine), [expected], rtol=1e-4)


def test_configuration():
    rate = tf.keras.Sequential([tf.keras.Input([1]), tf.keras.layers.Dense(1, "softplus")])
    layer = ed.layers.PoissonProcess(rate=rate, volume=0.5)
    copy = ed.layers.PoissonProcess.from_config(layer.get_config())
    copy(GRID)
    copy.set_weights(layer.get_weights())
    np.testing.assert_allclose(copy(GRID).mean(), layer(GRID).mean(), rtol=1e-6)
    number = ed.layers.PoissonProcess(rate=2.0)
    assert ed.layers.PoissonProcess.from_config(number.get_config()).rate == 2.0


def test_errors():
    with pytest.raises(ValueError, match="rate must be a function or above 0, got 0"):
        ed.layers.PoissonProcess(rate=0)
    with pytest.raises(ValueError, match="volume must be above 0, got -1"):
        ed.layers.PoissonProcess(rate=1.0, volume=-1)
