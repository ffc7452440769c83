"""Tests of agents.planet.value.networks, against Keras and TensorFlow Probability."""

import numpy as np
import pytest
import tensorflow as tf
from tensorflow_probability import bijectors as tfb
from tensorflow_probability import distributions as tfd

from agents.planet.value.networks import Critics, Perceptrons, SquashedNormal


def shaken(module, seed=0):
    """The module, none of its variables as it was at first."""
    rng = np.random.default_rng(seed)
    for variable in module.variables:
        variable.assign_add(rng.normal(0.0, 0.4, variable.shape))
    return module


def by_keras(ensemble, member, inputs):
    """What one member computes, layer by layer."""
    *hidden, last = ensemble._layers
    dense = tf.keras.layers.Dense
    for layer in hidden:
        own = {name: values[member].numpy() for name, values in layer.items()}
        linear = dense(own["kernel"].shape[1])
        norm = tf.keras.layers.LayerNormalization(epsilon=1e-3)
        linear.build(inputs.shape)
        linear.set_weights([own["kernel"], own["bias"][0]])
        norm.build(linear(inputs).shape)
        norm.set_weights([own["scale"][0], own["offset"][0]])
        inputs = tf.nn.elu(norm(linear(inputs)))
    return inputs @ last["kernel"][member] + last["bias"][member]


@pytest.mark.parametrize("members", [1, 2, 3])
def test_members_are_perceptrons_with_layer_normalization(members, noise):
    ensemble, inputs = shaken(Perceptrons(members, [4, 6, 5, 2], "some")), noise(7, 4)
    found = ensemble(inputs)
    assert found.shape == (members, 7, 2)
    for member in range(members):
        expected = by_keras(ensemble, member, inputs)
        np.testing.assert_allclose(found[member], expected, rtol=1e-4, atol=1e-5)
    assert members == 1 or np.abs(found[0] - found[1]).min() > 1e-4


def test_both_critics_take_one_product_a_layer(noise):
    critics = Critics(5, 2, layers=2, units=8, name="critics")
    graph = tf.function(critics).get_concrete_function(noise(3, 5), noise(3, 2)).graph
    products = [each for each in graph.get_operations() if "MatMul" in each.type]
    assert len(products) == 3


def test_critics_take_any_leading_axes_of_features_and_actions(noise):
    critics = shaken(Critics(5, 2, layers=1, units=8, name="critics"))
    features, action = noise(2, 3, 4, 5), noise(2, 3, 4, 2, seed=1)
    found = critics(features, action)
    assert found.shape == (2, 2, 3, 4)
    alone = critics(features[1, 2], action[1, 2])
    np.testing.assert_allclose(found[:, 1, 2], alone, rtol=1e-4, atol=1e-6)
    flipped = critics(features[1, 2], -action[1, 2])
    assert np.abs(alone - flipped).min() > 1e-5


def test_nothing_is_worth_anything_at_first_and_the_members_differ(noise):
    critics = Critics(5, 2, layers=1, units=8, name="critics")
    np.testing.assert_array_equal(critics(noise(3, 5), noise(3, 2)), np.zeros([2, 3]))
    kernel = critics.variables[[v.name for v in critics.variables].index("kernel_0:0")]
    assert np.abs(kernel[0] - kernel[1]).min() > 0
    assert np.abs(kernel).max() <= np.sqrt(6 / (7 + 8))


def test_fixed_weights_let_gradients_through_to_the_inputs_alone(noise):
    critics = shaken(Critics(5, 2, layers=2, units=8, name="critics"))
    features, action = noise(3, 5), noise(3, 2)
    gradients = []
    for fixed in (True, False):
        with tf.GradientTape() as tape:
            tape.watch(action)
            values = critics(features, action, fixed=fixed)
        given = [action, *critics.trainable_variables]
        gradients.append(tape.gradient(values, given))
    (of_action, *of_weights), (same, *free) = gradients
    np.testing.assert_allclose(of_action, same, rtol=1e-5)
    assert np.abs(of_action).min() > 0
    assert all(gradient is None for gradient in of_weights)
    assert all(np.abs(gradient).max() > 0 for gradient in free)


def test_a_follower_takes_over_a_share():
    slow, fast = (shaken(Perceptrons(2, [3, 4, 1], "some"), seed) for seed in (1, 2))
    before = [variable.numpy() for variable in slow.variables]
    slow.follow(fast, rate=0.2)
    for old, now, other in zip(before, slow.variables, fast.variables, strict=True):
        np.testing.assert_allclose(now, 0.8 * old + 0.2 * other, rtol=1e-5, atol=1e-6)
    slow.follow(fast, rate=1.0)
    for now, other in zip(slow.variables, fast.variables, strict=True):
        np.testing.assert_allclose(now, other, rtol=1e-6, atol=1e-7)


@pytest.fixture(scope="module")
def policy():
    return shaken(SquashedNormal(5, 2, layers=1, units=8))


def test_actions_have_the_density_of_a_normal_squashed_by_tanh(policy, noise):
    features, normal = noise(4, 3, 5), 0.7 * noise(4, 3, 2, seed=1)
    action, log_density = policy.sample(features, normal)
    raw = by_keras(policy._network, 0, tf.reshape(features, [12, 5]))
    mean, spread = tf.split(tf.reshape(raw, [4, 3, 4]), 2, -1)
    stddev = tf.exp(-5.0 + 3.0 * (tf.tanh(spread) + 1.0))  # its log from -5 to 1
    squashed = tfd.TransformedDistribution(tfd.Normal(mean, stddev), tfb.Tanh())
    np.testing.assert_allclose(action, tf.tanh(mean + stddev * normal), atol=1e-5)
    inside = np.abs(action).max(-1) < 0.99
    assert inside.sum() > 5
    expected = tf.reduce_sum(squashed.log_prob(action), -1)
    np.testing.assert_allclose(log_density[inside], expected[inside], atol=2e-3)


def test_the_mode_is_the_action_without_noise(policy, noise):
    features = noise(4, 5)
    np.testing.assert_allclose(
        policy.mode(features), policy.sample(features, tf.zeros([4, 2]))[0], rtol=1e-5
    )


def test_the_density_of_actions_at_the_bounds_is_finite(policy, noise):
    action, log_density = policy.sample(noise(4, 5), tf.fill([4, 2], 60.0))
    assert np.abs(action).max() == 1.0
    assert np.all(np.isfinite(log_density))
