import numpy as np
import pytest
import tensorflow as tf

import bayes_rl as ed
from bayes_rl import initializers


def make(initializer, **kwargs):
    layer = ed.layers.DenseReparameterization(
        4, kernel_initializer=initializer, name="dense", **kwargs
    )
    layer.build([None, 3])
    return layer


def test_deterministic_layer_is_keras_dense_with_a_prior():
    layer = make("trainable_deterministic")
    kernel = layer.kernel_initializer.loc
    reference = tf.keras.layers.Dense(4)
    reference.build([None, 3])
    reference.set_weights([kernel, np.zeros(4)])
    inputs = tf.random.stateless_normal([2, 3], [0, 1])
    np.testing.assert_allclose(layer(inputs), reference(inputs), rtol=1e-6)
    with tf.GradientTape() as tape:
        (cost,) = layer.losses
    # -log Normal(w; 0, 1) = w^2 / 2 + log(2 pi) / 2
    expected = 0.5 * np.sum(kernel**2) + 6 * np.log(2 * np.pi)
    np.testing.assert_allclose(cost, expected, rtol=1e-5)
    np.testing.assert_allclose(tape.gradient(cost, kernel), kernel, rtol=1e-5)


def test_mixture_draws_each_point_of_each_element_equally_often():
    layer = make(initializers.TrainableMixtureOfDeltas(num_components=3))
    points = layer.kernel_initializer.loc.numpy()
    assert points.shape == (3, 4, 3)
    draws = ed.sample_weights(layer, [3000], seed=1)["dense/kernel"].numpy()
    found = np.mean(draws[..., None] == points, axis=0)
    assert np.all(abs(found - 1 / 3) < 5 * np.sqrt(2 / 9 / 3000))
    np.testing.assert_allclose(
        ed.mean_weights(layer)["dense/kernel"], points.mean(-1), rtol=1e-5, atol=1e-7
    )


def test_components_start_apart_at_the_variance_of_he():
    initializer = initializers.TrainableMixtureOfDeltas(num_components=2)
    initializer([400, 100])
    np.testing.assert_allclose(np.var(initializer.loc), 2 / 400, rtol=0.05)
    first, second = np.moveaxis(initializer.loc.numpy(), -1, 0)
    assert abs(np.corrcoef(first.ravel(), second.ravel())[0, 1]) < 5 / np.sqrt(40_000)


def test_cost_of_a_mixture_has_gradients_to_every_point():
    layer = make("trainable_mixture_of_deltas")
    with tf.GradientTape() as tape:
        (cost,) = layer.losses
    points = layer.kernel_initializer.loc
    np.testing.assert_allclose(tape.gradient(cost, points), points / 5, rtol=1e-5)


@pytest.mark.parametrize("name", ["trainable_deterministic", "trainable_mixture_of_deltas"])
@pytest.mark.parametrize("policy", ["mixed_float16", "float64"])
def test_precision_policies(name, policy):
    policy = tf.keras.mixed_precision.Policy(policy)
    layer = make(name, dtype=policy)
    assert layer(tf.ones([2, 3])).dtype == policy.compute_dtype
    assert layer.losses[0].dtype == policy.variable_dtype


def test_mixture_of_nothing_is_an_error():
    with pytest.raises(ValueError, match="num_components must be at least 1, got 0"):
        initializers.TrainableMixtureOfDeltas(0)
