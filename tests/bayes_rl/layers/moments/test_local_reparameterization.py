import numpy as np
import pytest
import tensorflow as tf

import bayes_rl as ed

COUNT = 100_000
INPUTS = np.array([[0.5, -1.0, 2.0], [1.5, 0.2, -0.4]], np.float32)


def wide_posterior():
    return ed.initializers.TrainableNormal("random_normal", "zeros")


def make(**kwargs):
    layer = ed.layers.DenseLocalReparameterization(
        4, kernel_initializer=wide_posterior(), **kwargs
    )
    layer.build([None, 3])
    return layer


def theory(layer, inputs=INPUTS):
    mean, variance = layer.kernel.mean().numpy(), layer.kernel.variance().numpy()
    return inputs @ mean, inputs**2 @ variance


def test_mean_and_variance_of_draws_are_those_of_the_posterior():
    layer = make(bias_initializer=wide_posterior())
    draws = tf.function(layer)(tf.repeat(INPUTS[:, None], COUNT // 2, axis=1)).numpy()
    mean, variance = theory(layer)
    mean, variance = mean + layer.bias.mean(), variance + layer.bias.variance()
    error = np.sqrt(variance / (COUNT // 2))
    assert np.all(abs(draws.mean(1) - mean) < 5 * error)
    ratio = draws.var(1) / variance
    assert np.all(abs(ratio - 1) < 5 * np.sqrt(2 / (COUNT // 2)))


def test_examples_and_units_are_independent():
    layer = make()
    draws = layer(tf.tile(INPUTS, [20_000, 1])).numpy().reshape([20_000, 8])
    correlation = np.corrcoef(draws.T) - np.eye(8)
    assert abs(correlation).max() < 5 / np.sqrt(20_000)


def test_average_gradient_is_that_of_shared_draws_and_varies_less():
    layer, count, batch = make(use_bias=False), 2_000, 16
    shared = ed.layers.DenseReparameterization.call
    inputs = tf.random.stateless_normal([batch, 3], [0, 1])

    def gradients(call):
        def one(_):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.reduce_sum(tf.sin(call(inputs)), -1))
            return tape.gradient(loss, layer.kernel_initializer.mean)

        return tf.function(lambda: tf.vectorized_map(one, tf.zeros([count])))().numpy()

    local, common = gradients(layer), gradients(lambda inputs: shared(layer, inputs))
    error = np.sqrt((local.var(0) + common.var(0)) / count)
    assert np.all(abs(local.mean(0) - common.mean(0)) < 5 * error)
    assert local.var(0).sum() < 0.8 * common.var(0).sum()


def test_held_and_conditioned_kernels_are_used_as_they_are():
    layer = make(activation="relu")
    weights = ed.sample_weights(layer, [5], seed=1)
    kernel = weights[f"{layer.name}/kernel"].numpy()
    expected = np.maximum(INPUTS @ kernel, 0.0)
    with ed.hold(layer, weights):
        np.testing.assert_allclose(layer(INPUTS), expected, atol=1e-5)
    with ed.condition(**{f"{layer.name}/kernel": kernel[0]}):
        np.testing.assert_allclose(layer(INPUTS), expected[0], atol=1e-5)


def test_deterministic_kernel_gives_a_dense_layer():
    layer = ed.layers.DenseLocalReparameterization(4, kernel_initializer="he_normal")
    np.testing.assert_allclose(layer(tf.eye(3)), layer.kernel, atol=1e-6)


def test_inputs_of_zeros_have_finite_gradients():
    layer = make()
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(layer(tf.zeros([2, 3])))
    gradients = tape.gradient(loss, layer.trainable_variables)
    assert all(np.all(np.isfinite(x)) for x in gradients)


def test_kernel_that_is_not_normal_is_an_error():
    layer = ed.layers.DenseLocalReparameterization(
        4, kernel_initializer="trainable_cauchy", name="dense"
    )
    with pytest.raises(ValueError, match=r"posterior of 'dense/kernel' must be normal"):
        layer(INPUTS)


@pytest.mark.parametrize("padding", ["valid", "same"])
def test_convolution_has_the_moments_of_its_posterior(padding):
    count = 20_000
    layer = ed.layers.Conv2DLocalReparameterization(
        2, 3, padding=padding, kernel_initializer=wide_posterior(), strides=2
    )
    image = tf.random.stateless_normal([1, 5, 5, 2], [0, 1])
    draws = layer(tf.repeat(image, count, axis=0)).numpy()
    convolution = {"strides": 2, "padding": padding.upper()}
    mean = tf.nn.conv2d(image, layer.kernel.mean(), **convolution)[0]
    variance = tf.nn.conv2d(image**2, layer.kernel.variance(), **convolution)[0].numpy()
    assert np.all(abs(draws.mean(0) - mean) < 5 * np.sqrt(variance / count))
    assert np.all(abs(draws.var(0) / variance - 1) < 5 * np.sqrt(2 / count))


def test_convolution_with_a_held_kernel_is_that_of_keras():
    layer = ed.layers.Conv2DLocalReparameterization(2, 3)
    image = tf.random.stateless_normal([2, 5, 5, 2], [0, 1])
    layer(image)
    weights = ed.sample_weights(layer, seed=1)
    with ed.hold(layer, weights):
        outputs = layer(image)
    expected = tf.nn.conv2d(image, weights[f"{layer.name}/kernel"], 1, "VALID")
    np.testing.assert_allclose(outputs, expected, atol=1e-6)


def test_posterior_of_one_point_has_no_variance():
    layer = ed.layers.DenseLocalReparameterization(
        4, kernel_initializer="trainable_deterministic", kernel_regularizer=None
    )
    np.testing.assert_allclose(layer(tf.eye(3)), layer.kernel.mean(), atol=1e-5)
