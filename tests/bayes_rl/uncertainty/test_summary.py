import math

import numpy as np
import pytest
import tensorflow as tf

import bayes_rl as ed


@pytest.fixture(scope="module")
def model():
    first = ed.layers.DenseReparameterization(4, name="first")
    fixed = ed.initializers.TrainableNormalFixedStddev(0.5, "ones")
    second = ed.layers.DenseFlipout(
        2, kernel_initializer=fixed, kernel_regularizer=None, name="second"
    )
    model = tf.keras.Sequential([first, tf.keras.layers.Dense(3), second])
    model.build([None, 5])
    return model


def test_rows_are_the_stochastic_weights(model):
    first, second = ed.posterior_summary(model)
    assert (first.name, first.shape, first.size) == ("first/kernel", (5, 4), 20)
    np.testing.assert_allclose(first.stddev, np.mean(model.layers[0].kernel.stddev()))
    assert (second.mean, second.stddev, second.kl) == (1.0, 0.5, None)


def test_total_is_the_sum_of_the_losses(model):
    summary = ed.posterior_summary(model)
    assert summary.size == 26
    np.testing.assert_allclose(summary.kl, sum(model.losses), rtol=1e-6)


def test_kl_is_scaled_as_in_the_losses_and_stays_where_a_layer_is_frozen():
    layer = ed.layers.DenseReparameterization(4)
    layer.build([None, 5])
    whole = ed.posterior_summary(layer).kl
    ed.scale_kl(layer, 0.25)
    np.testing.assert_allclose(layer.losses[0], 0.25 * whole, rtol=1e-6)
    layer.trainable = False
    assert layer.losses == []
    np.testing.assert_allclose(ed.posterior_summary(layer).kl, 0.25 * whole, rtol=1e-6)


def test_prints_one_line_a_weight(model):
    header, first, second, total = repr(ed.posterior_summary(model)).splitlines()
    assert header.split() == ["weight", "shape", "mean", "stddev", "KL"]
    assert first.startswith("first/kernel")
    assert second.split() == ["second/kernel", "(3,", "2)", "1", "0.5", "-"]
    assert total.startswith("total")
    assert "26 elements" in total
    assert len({len(line) for line in (header, first, total)}) == 1


def test_posterior_without_a_stddev_is_nan():
    layer = ed.layers.DenseReparameterization(
        1, kernel_initializer="trainable_half_cauchy", kernel_regularizer=None, name="x"
    )
    layer.build([None, 2])
    assert math.isnan(ed.posterior_summary(layer).weights[0].stddev)


def test_deterministic_model_has_an_empty_table():
    layer = tf.keras.layers.Dense(1)
    layer.build([None, 2])
    assert len(ed.posterior_summary(layer)) == 0
