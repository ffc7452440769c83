import numpy as np
import pytest
import tensorflow as tf
from tensorflow_probability import distributions as tfd

import bayes_rl as ed

INPUTS = np.array([[0.5, -1.0, 2.0], [1.5, 0.2, -0.4]], np.float32)
IMAGE = np.random.default_rng(0).normal(size=[2, 5, 5, 3]).astype(np.float32)


def wide_posterior():
    return ed.initializers.TrainableNormal("random_normal", "zeros")


def make(**kwargs):
    layer = ed.layers.DenseVariationalDropout(
        4, kernel_initializer=wide_posterior(), **kwargs
    )
    layer.build([None, 3])
    return layer


def convolution(**kwargs):
    layer = ed.layers.Conv2DVariationalDropout(
        4, 3, kernel_initializer=wide_posterior(), **kwargs
    )
    layer.build([None, 5, 5, 3])
    return layer


def test_training_outputs_have_the_moments_of_the_posterior():
    layer = make(bias_initializer=wide_posterior())
    outputs = layer(INPUTS, training=True)
    kernel, bias = layer.kernel.distribution, layer.bias.distribution
    assert isinstance(outputs.distribution, tfd.Normal)
    np.testing.assert_allclose(
        outputs.mean(), INPUTS @ kernel.mean() + bias.mean(), rtol=1e-5
    )
    expected = INPUTS**2 @ kernel.variance() + bias.variance()
    np.testing.assert_allclose(outputs.variance(), expected, rtol=1e-5)


def test_training_outputs_of_a_convolution_have_the_moments_of_the_posterior():
    layer = convolution()
    outputs = layer(IMAGE, training=True)
    mean = tf.nn.conv2d(IMAGE, layer.kernel.mean(), 1, "VALID")
    variance = tf.nn.conv2d(IMAGE**2, layer.kernel.variance(), 1, "VALID")
    np.testing.assert_allclose(outputs.mean(), mean, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(outputs.variance(), variance, rtol=1e-4)


def test_training_draws_after_an_activation_have_its_mean():
    layer, count = make(activation="relu"), 100_000
    draws = layer(tf.repeat(INPUTS[:1], count, axis=0), training=True).numpy()
    outputs = make(activation="relu")
    outputs.set_weights(layer.get_weights())
    outputs.activation = None
    normal = outputs(INPUTS[:1], training=True)
    expected = normal.stddev() * ed.layers.soft_relu(normal.mean() / normal.stddev())
    error = draws.std(0) / np.sqrt(count)
    assert np.all(abs(draws.mean(0) - expected[0]) < 5 * error)


def test_examples_share_the_draw_at_test_time_only():
    layer, inputs = make(), tf.ones([2, 3])
    first, second = layer(inputs, training=False)
    np.testing.assert_array_equal(first, second)
    first, second = tf.convert_to_tensor(layer(inputs, training=True))
    assert not np.any(first == second)
    assert not np.any(layer(inputs) == layer(inputs))


@pytest.mark.parametrize(("layer", "inputs"), [(make, INPUTS), (convolution, IMAGE)])
def test_mean_at_test_time_uses_the_mean_kernel(layer, inputs):
    layer = layer(at_test="mean")
    with ed.hold(layer, ed.mean_weights(layer)):
        expected = layer(inputs)
    np.testing.assert_array_equal(layer(inputs), expected)
    assert layer.get_config()["at_test"] == "mean"


@pytest.mark.parametrize("at_test", ["sample", "mean"])
@pytest.mark.parametrize("training", [False, True])
def test_held_kernel_is_used_in_training_and_test(training, at_test):
    layer = make(at_test=at_test)
    weights = ed.sample_weights(layer, [5], seed=1)
    with ed.hold(layer, weights):
        outputs = layer(INPUTS, training=training)
    np.testing.assert_allclose(outputs, INPUTS @ weights[f"{layer.name}/kernel"], atol=1e-5)


@pytest.mark.parametrize("training", [False, True])
def test_training_may_be_a_tensor(training):
    layer = make(at_test="mean")
    call = tf.function(lambda inputs, flag: layer(inputs, training=flag))
    outputs = call(tf.ones([2, 3]), tf.constant(training))
    assert np.all(outputs[0] == outputs[1]) != training


@pytest.mark.parametrize("activation", [None, "relu"])
@pytest.mark.parametrize("policy", ["mixed_bfloat16", "float64"])
def test_training_may_be_a_tensor_in_any_precision(policy, activation):
    policy = tf.keras.mixed_precision.Policy(policy)
    layer = ed.layers.DenseVariationalDropout(4, activation=activation, dtype=policy)
    call = tf.function(lambda inputs, flag: layer(inputs, training=flag))
    for training in (True, False):
        outputs = call(INPUTS, tf.constant(training))
        assert outputs.dtype == policy.compute_dtype
        assert np.all(np.isfinite(tf.cast(outputs, tf.float32)))


def test_cost_falls_with_the_dropout_rate():
    layer = make()
    posterior, costs = layer.kernel_initializer, []
    posterior.mean.assign(tf.ones([3, 4]))
    for stddev in (0.01, 0.1, 1.0, 10.0):
        posterior.stddev.assign(tf.fill([3, 4], np.log(np.expm1(stddev)).astype("f")))
        np.testing.assert_allclose(layer.log_alpha(), 2 * np.log(stddev), atol=1e-4)
        costs.append(float(layer.losses[0]))
    assert costs == sorted(costs, reverse=True)


def test_training_drops_inputs_that_do_not_matter():
    inputs = tf.random.stateless_normal([256, 3], [0, 1])
    targets = inputs @ [[1.0], [2.0], [0.0]]
    prior = ed.regularizers.LogUniformKLDivergence(scale_factor=1 / 5_000)
    layer = ed.layers.DenseVariationalDropout(1, kernel_regularizer=prior)
    layer.build([None, 3])
    optimizer = tf.keras.optimizers.Adam(0.05)
    optimizer.build(layer.trainable_variables)

    @tf.function(autograph=False)
    def step():
        with tf.GradientTape() as tape:
            error = layer(inputs, training=True) - targets
            loss = tf.reduce_mean(tf.square(error)) + layer.losses[0]
        gradients = tape.gradient(loss, layer.trainable_variables)
        optimizer.apply_gradients(zip(gradients, layer.trainable_variables, strict=True))

    for _ in range(300):
        step()
    np.testing.assert_allclose(layer.kernel.mean(), [[1.0], [2.0], [0.0]], atol=0.05)
    first, second, third = layer.log_alpha()[:, 0]
    assert max(first, second) < -4 < 0 < third


def test_kernel_that_is_not_normal_is_an_error_in_training():
    layer = ed.layers.DenseVariationalDropout(
        4,
        kernel_initializer="trainable_cauchy",
        kernel_regularizer=None,
        name="dense",
    )
    layer(INPUTS)
    with pytest.raises(ValueError, match="posterior of 'dense/kernel' must be normal"):
        layer(INPUTS, training=True)


def test_unknown_mode_at_test_time_is_an_error():
    with pytest.raises(ValueError, match="at_test must be one of .* got 'median'"):
        make(at_test="median")
