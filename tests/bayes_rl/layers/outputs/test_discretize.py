import numpy as np
import pytest
import tensorflow as tf
from scipy import integrate
from tensorflow_probability import distributions as tfd

import bayes_rl as ed


def mixture(loc=(3.0, 200.0), scale=(0.1, 20.0)):
    return ed.MixtureSameFamily(
        tfd.Categorical(logits=[0.0, 1.0]), tfd.Logistic(list(loc), list(scale))
    )


VARIABLES = {
    "normal": lambda: ed.Normal(-3.0, 40.0),
    "logistic": lambda: ed.Logistic(400.0, 50.0),
    "mixture": mixture,
}


@pytest.mark.parametrize("kind", VARIABLES)
def test_probabilities_with_both_open_bins_sum_to_one(kind):
    output = ed.layers.Discretize()(VARIABLES[kind]())
    total = np.sum(output.prob(tf.range(256.0)), dtype=np.float64)
    np.testing.assert_allclose(total, 1.0, rtol=1e-5)


def test_probability_of_an_inner_bin_is_the_integral_of_the_density():
    variable = mixture()
    output = ed.layers.Discretize(-1.0, 1.0, 21)(ed.Normal(0.07, 0.2))
    grid = np.linspace(0.25, 0.35, 1001)
    integral = integrate.trapezoid(
        tfd.Normal(0.07, 0.2).prob(grid.astype(np.float32)), grid
    )
    np.testing.assert_allclose(output.prob(0.3), integral, rtol=1e-4)
    output = ed.layers.Discretize()(variable)
    quantized = tfd.QuantizedDistribution(
        tfd.Logistic(np.float64([3, 200]) - 0.5, np.float64([0.1, 20])), low=0.0, high=255.0
    )
    weights = np.exp([0.0, 1.0]) / np.exp([0.0, 1.0]).sum()
    values = np.arange(256.0)
    expected = np.exp(quantized.log_prob(values[:, np.newaxis])) @ weights
    np.testing.assert_allclose(output.prob(values.astype(np.float32)), expected, rtol=1e-3)


def test_log_probabilities_and_gradients_are_finite_far_from_the_mass():
    loc = tf.constant([-5.0, 0.0, 255.0, 400.0])
    scale = tf.fill([4], 0.05)
    values = tf.constant([[0.0], [7.0], [128.0], [250.0], [255.0]])
    for family in (ed.Logistic, ed.Normal):
        with tf.GradientTape() as tape:
            tape.watch([loc, scale])
            logs = ed.layers.Discretize()(family(loc, scale)).log_prob(values)
        assert np.all(np.isfinite(logs))
        assert np.all(logs <= 0)
        assert all(np.all(np.isfinite(x)) for x in tape.gradient(logs, [loc, scale]))


def test_moments_entropy_and_mode_are_sums_over_the_values():
    output = ed.layers.Discretize(0.0, 3.0, 4)(ed.Normal([0.2, 2.6], 1.0))
    values = np.arange(4.0, dtype=np.float32)
    p = output.prob(values[:, np.newaxis]).numpy()
    mean = values @ p
    np.testing.assert_allclose(output.mean(), mean, rtol=1e-5)
    np.testing.assert_allclose(output.variance(), values**2 @ p - mean**2, rtol=1e-4)
    np.testing.assert_allclose(output.entropy(), -(p * np.log(p)).sum(0), rtol=1e-5)
    np.testing.assert_array_equal(output.mode(), values[p.argmax(0)])


def test_frequencies_of_draws_are_the_probabilities():
    output = ed.layers.Discretize(0.0, 3.0, 4)(ed.Normal(1.2, 1.0))
    draws = output.distribution.sample(40_000, seed=[1, 2])
    frequency = np.mean(draws[:, tf.newaxis] == np.arange(4.0), axis=0)
    p = output.prob(tf.range(4.0)).numpy()
    assert np.all(abs(frequency - p) < 5 * np.sqrt(p * (1 - p) / 40_000))


def test_value_is_the_input_moved_to_the_nearest_bin():
    x = ed.Normal([1.0, 300.0], 1.0, value=[1.4, 299.0])
    np.testing.assert_array_equal(ed.layers.Discretize(x).value, [1.0, 255.0])
    moved = ed.layers.Discretize(tf.constant([-3.0, 1.6]))
    np.testing.assert_array_equal(moved, [0.0, 2.0])


def test_integers_are_moved_as_numbers():
    moved = ed.layers.Discretize()(tf.constant([-3, 2, 300]))
    np.testing.assert_array_equal(moved, [0.0, 2.0, 255.0])
    assert moved.dtype == tf.float32
    moved = ed.layers.Discretize(0.0, 1.0, 2, dtype="float64")(tf.constant([3]))
    assert moved.dtype == tf.float64


def test_independent_variables_keep_their_event():
    x = ed.Independent(tfd.Normal([[1.0, 2.0]], 1.0), 1)
    output = ed.layers.Discretize()(x)
    parts = ed.layers.Discretize()(ed.Normal([[1.0, 2.0]], 1.0))
    expected = tf.reduce_sum(parts.log_prob([1.0, 5.0]), -1)
    np.testing.assert_allclose(output.log_prob([1.0, 5.0]), expected, rtol=1e-5)


def test_functional_model_gives_log_probabilities_of_images():
    inputs = tf.keras.Input([4, 2])
    x = ed.layers.MixtureLogistic(5, units=3)(inputs)
    model = tf.keras.Model(inputs, ed.layers.Discretize(x))
    images = tf.constant(np.random.default_rng(0).integers(0, 256, [2, 4, 3]), tf.float32)
    with tf.GradientTape() as tape:
        loss = -tf.reduce_mean(model(tf.ones([2, 4, 2])).distribution.log_prob(images))
    assert np.isfinite(loss)
    gradients = tape.gradient(loss, model.trainable_variables)
    assert all(np.all(np.isfinite(x)) for x in gradients)


def test_leaves_a_function_with_its_distribution():
    layer = ed.layers.Discretize(0.0, 3.0, 4)
    output = tf.function(lambda x: layer(ed.Normal(x, 1.0)))(tf.constant([0.2, 2.6]))
    expected = layer(ed.Normal([0.2, 2.6], 1.0)).log_prob(1.0)
    np.testing.assert_allclose(output.log_prob(1.0), expected, rtol=1e-5)


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match="high must be above low, got low=1, high=0"):
        ed.layers.Discretize(1, 0)
    with pytest.raises(ValueError, match="num_bins must be at least 2, got 1"):
        ed.layers.Discretize(num_bins=1)
    with pytest.raises(ValueError, match="elements are independent, got Multivariate"):
        ed.layers.Discretize()(ed.MultivariateNormalTriL([0.0, 0.0], tf.eye(2)))


def test_variance_of_narrow_variables_far_from_zero():
    variable = ed.Normal(np.arange(200.0, 201.0, 0.1, np.float32), 0.1)
    output = ed.layers.Discretize()(variable)
    values = np.arange(256.0)[:, np.newaxis]
    p = np.float64(output.prob(values.astype(np.float32)))
    expected = (p * (values - (p * values).sum(0)) ** 2).sum(0)
    np.testing.assert_allclose(output.variance(), expected, rtol=1e-3, atol=1e-7)
    assert np.all(np.isfinite(output.stddev()))


def test_bins_outside_of_a_bounded_support_have_no_mass():
    output = ed.layers.Discretize(0.0, 9.0, 10)(ed.Uniform(1.5, 3.5))
    np.testing.assert_allclose(
        output.prob(tf.range(10.0)), [0, 0, 0.5, 0.5, 0, 0, 0, 0, 0, 0], atol=1e-6
    )
    np.testing.assert_allclose([output.mean(), output.variance()], [2.5, 0.25], rtol=1e-5)
    np.testing.assert_allclose(output.entropy(), np.log(2.0), rtol=1e-5)
