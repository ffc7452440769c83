"""The fast draws and KL equal those of TFP's distribution, small and large."""

import numpy as np
import pytest
import tensorflow as tf
from tensorflow_probability import distributions as tfd

import bayes_rl as ed
from bayes_rl.layers.base import softplus_normal
from bayes_rl.numerics.fused import is_fused

SHAPES = [(3, 4), (256, 300)]


class Laplace(ed.initializers.TrainableNormal):
    def _distribution(self):
        return tfd.Laplace(*self.parameters())


def dense(shape, **kwargs):
    tf.keras.utils.set_random_seed(1)
    posterior = ed.initializers.TrainableNormal(
        mean_initializer="random_normal", stddev_initializer="zeros"
    )
    layer = ed.layers.DenseReparameterization(
        shape[1], kernel_initializer=posterior, **kwargs
    )
    layer.build([None, shape[0]])
    return layer


def test_only_large_weights_are_compiled():
    assert [is_fused(tf.zeros(shape)) for shape in SHAPES] == [False, True]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("centered", [False, True])
def test_draws_have_the_posteriors_mean_and_variance(shape, centered):
    weight = dense(shape).stochastic_weights["kernel"]
    count = 4_000 if shape == SHAPES[0] else 3
    draws = tf.function(
        lambda: tf.map_fn(lambda _: weight.draw(centered), tf.zeros([count])),
        autograph=False,
    )()
    posterior = weight.posterior()
    noise = (draws - (0.0 if centered else posterior.mean())) / posterior.stddev()
    assert abs(np.mean(noise)) < 5 / np.sqrt(np.size(noise))
    assert abs(np.var(noise) - 1) < 5 * np.sqrt(2 / np.size(noise))
    assert abs(np.mean(noise**4) - 3) < 5 * np.sqrt(96 / np.size(noise))


@pytest.mark.parametrize("shape", SHAPES)
def test_gradient_of_a_draw_is_that_of_the_reparameterization(shape):
    weight = dense(shape).stochastic_weights["kernel"]
    mean, parameter = weight.initializer.mean, weight.initializer.stddev
    upstream = tf.random.stateless_normal(shape, [0, 1])
    with tf.GradientTape() as tape:
        draw = weight.draw()
    of_mean, of_parameter = tape.gradient(draw, [mean, parameter], upstream)
    noise = (draw - mean) / weight.posterior().stddev()
    np.testing.assert_allclose(of_mean, upstream)
    expected = upstream * noise * tf.sigmoid(parameter)
    np.testing.assert_allclose(of_parameter, expected, atol=1e-5)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("jit", [False, True])
def test_cost_and_its_gradient_are_those_of_tfp(shape, jit):
    prior = ed.regularizers.NormalKLDivergence(0.1, 0.5, scale_factor=0.25)
    weight = dense(shape, kernel_regularizer=prior).stochastic_weights["kernel"]
    variables = weight.initializer.trainable_variables

    def kl():
        other = tfd.Independent(tfd.Normal(tf.fill(shape, 0.1), 0.5), 2)
        return 0.25 * tfd.kl_divergence(weight.posterior(), other)

    @tf.function(jit_compile=jit)
    def value_and_gradients(cost):
        with tf.GradientTape() as tape:
            value = 3.0 * cost()
        return value, *tape.gradient(value, variables)

    ours, theirs = (value_and_gradients(cost) for cost in (weight.cost, kl))
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(one, other, rtol=2e-5, atol=1e-6)


def test_large_weights_draw_anew_at_every_call_and_obey_the_global_seed():
    draws = []
    for _ in range(2):
        weight = dense(SHAPES[1]).stochastic_weights["kernel"]
        call = tf.function(weight.draw)
        draws += [call(), call()]
    assert np.mean(draws[0] == draws[1]) < 1e-3
    np.testing.assert_array_equal(draws[0], draws[2])
    np.testing.assert_array_equal(draws[1], draws[3])


@pytest.mark.parametrize(
    "initializer",
    [
        ed.initializers.TrainableNormal(stddev_constraint="exp"),
        ed.initializers.TrainableNormal(mean_constraint="positive"),
        ed.initializers.TrainableNormalSharedStddev(),
        ed.initializers.TrainableCauchy(),
        Laplace(),
    ],
    ids=lambda x: type(x).__name__,
)
def test_other_posteriors_take_the_general_way(initializer):
    layer = ed.layers.DenseReparameterization(4, kernel_initializer=initializer)
    layer.build([None, 3])
    weight = layer.stochastic_weights["kernel"]
    assert softplus_normal.parameters_of(weight.initializer) is None
    assert weight.draw().shape == [3, 4]


def curvature(cost, point, direction):
    """Gradient of a cost, and the derivative of that in a direction."""
    with tf.GradientTape() as outer:
        outer.watch(point)
        with tf.GradientTape() as inner:
            inner.watch(point)
            value = cost(point)
        gradient = inner.gradient(value, point)
        along = tf.reduce_sum(gradient * direction)
    return gradient, outer.gradient(along, point)


@pytest.mark.parametrize("in_graph", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_second_derivatives_are_right(shape, in_graph):
    parameter, mean, direction = tf.random.stateless_normal([3, *shape], [0, 1])
    epsilon = 1e-7

    def kl(parameter):
        return softplus_normal.divergence(parameter, epsilon, mean, 0.0, 1.0)

    def expected_kl(parameter):
        posterior = tfd.Normal(mean, tf.nn.softplus(parameter) + epsilon)
        return tf.reduce_sum(tfd.kl_divergence(posterior, tfd.Normal(0.0, 1.0)))

    def of_draw(parameter):
        return tf.reduce_sum(softplus_normal.perturbation(parameter, epsilon))

    def both():
        return (
            curvature(kl, parameter, direction),
            curvature(expected_kl, parameter, direction),
            curvature(of_draw, parameter, direction),
        )

    ours, theirs, drawn = (tf.function(both) if in_graph else both)()
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)
    # Both are times the noise of the draw: sigmoid' = sigmoid (1 - sigmoid).
    first, second = drawn
    expected = first * direction * (1.0 - tf.sigmoid(parameter))
    np.testing.assert_allclose(second, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64])
def test_slope_of_a_draw_is_right_for_all_parameters(dtype):
    values = tf.constant([-80.0, -20.0, -3.0, 0.0, 3.0, 29.9, 30.0, 30.1, 200.0], dtype)
    parameter = tf.repeat(values, 2**13)
    assert is_fused(parameter)
    with tf.GradientTape() as tape:
        tape.watch(parameter)
        draw = softplus_normal.perturbation(parameter, 0.0)
    slope = tape.gradient(draw, parameter)
    ratio = tf.sigmoid(values) / tf.nn.softplus(values)
    np.testing.assert_allclose(slope, draw * tf.repeat(ratio, 2**13), rtol=1e-5)
    noise = tf.reshape(draw, [len(values), -1]) / tf.nn.softplus(values)[:, tf.newaxis]
    np.testing.assert_allclose(np.var(noise, axis=1), 1.0, atol=0.1)


@pytest.mark.parametrize("shape", SHAPES)
def test_draws_can_be_vectorized(shape):
    weight = dense(shape).stochastic_weights["kernel"]
    first, second = tf.vectorized_map(lambda x: x + weight.draw(), tf.zeros([2]))
    assert np.mean(first == second) < 1e-3
