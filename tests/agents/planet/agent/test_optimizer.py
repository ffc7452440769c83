"""Tests of agents.planet.agent.optimizer."""

import numpy as np
import tensorflow as tf

from agents.planet.agent.optimizer import Optimizer, is_stddev


def make_variables():
    return [tf.Variable([1.0, 2.0], name="mean"), tf.Variable([3.0], name="stddev")]


def make(variables, clip_norm=1000.0, **settings):
    settings = {"learning_rate": 0.1, "stddev_learning_rate": 0.01} | settings
    return Optimizer(variables, epsilon=1e-8, clip_norm=clip_norm, **settings)


def test_the_first_step_of_adam_is_the_learning_rate_of_each_group():
    mean, stddev = variables = make_variables()
    make(variables).apply([tf.constant([3.0, -2.0]), tf.constant([5.0])], variables)
    np.testing.assert_allclose(mean, [0.9, 2.1], rtol=1e-5)
    np.testing.assert_allclose(stddev, [2.99], rtol=1e-5)


def adam(gradients, values, learning_rates, clip_norm):
    """Adam (Kingma and Ba, 2015, algorithm 1) with one norm over all variables."""
    first, second = np.zeros_like(values), np.zeros_like(values)
    for step, gradient in enumerate(gradients, start=1):
        gradient = gradient * min(1.0, clip_norm / np.linalg.norm(gradient))
        first = 0.9 * first + 0.1 * gradient
        second = 0.999 * second + 0.001 * gradient**2
        mean, variance = first / (1 - 0.9**step), second / (1 - 0.999**step)
        values = values - learning_rates * mean / (np.sqrt(variance) + 1e-8)
    return values


def test_steps_are_those_of_adam_with_one_norm_clipped_over_both_groups():
    variables = make_variables()
    optimizer = make(variables, clip_norm=2.0)
    gradients = np.array([[3.0, 0.0, 4.0], [0.3, -0.4, 0.0], [0.1, 6.0, -8.0]], np.float32)
    for gradient in gradients:
        optimizer.apply([tf.constant(gradient[:2]), tf.constant(gradient[2:])], variables)
    expected = adam(gradients, np.array([1.0, 2.0, 3.0]), np.array([0.1, 0.1, 0.01]), 2.0)
    np.testing.assert_allclose(np.concatenate(variables), expected, rtol=1e-5)


def test_the_norm_before_clipping_is_returned():
    variables = make_variables()
    gradients = [tf.constant([3.0, 0.0]), tf.constant([4.0])]
    assert float(make(variables, clip_norm=1.0).apply(gradients, variables)) == 5.0


def test_a_restored_optimizer_goes_on_as_the_saved_one(tmp_path):
    gradients = [tf.constant([3.0, 0.1]), tf.constant([4.0])]
    variables, others = make_variables(), make_variables()
    optimizer, other = make(variables), make(others)
    optimizer.apply(gradients, variables)
    saved = tf.train.Checkpoint(optimizer=optimizer, variables=variables)
    path = saved.save(tmp_path / "checkpoint")
    restored = tf.train.Checkpoint(optimizer=other, variables=others)
    restored.restore(path).assert_consumed()
    for each, group in ((optimizer, variables), (other, others)):
        each.apply([tf.constant([-1.0, 0.1]), tf.constant([0.5])], group)
    np.testing.assert_array_equal(variables[0], others[0])
    np.testing.assert_array_equal(variables[1], others[1])


def test_there_need_be_no_stddevs():
    variables = make_variables()[:1]
    make(variables).apply([tf.constant([1.0, 1.0])], variables)
    np.testing.assert_allclose(variables[0], [0.9, 1.9], rtol=1e-5)


def test_stddevs_of_a_model_are_told_from_the_rest(model):
    names = {v.name for v in model.trainable_variables if is_stddev(v)}
    layers = ("transition_input", "transition_hidden", "transition_latent")
    assert len(names) == len(layers)
    assert all(any(layer in name for name in names) for layer in layers), names
