"""Tests of agents.planet.agent.optimizer."""

import contextlib

import numpy as np
import pytest
import tensorflow as tf
from scipy import special

from agents.planet.agent.optimizer import Ivon, Optimizer, WeightAverage, is_stddev
from agents.planet.model.transitions.posterior import Centre
from agents.training.building import choose_devices
from agents.training.gradient_steps import Learning


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


def centre(values, scale=0.5):
    """A posterior of one row about these values."""
    found = Centre(tf.keras.initializers.Constant([values]), scale)
    found([1, len(values)])
    return found


def make_ivon(posterior, variables, rate, curvature, prior_scale):
    given = {"weight": posterior}, rate, curvature, prior_scale
    return make(variables, ivon=Ivon(*given))


def ivon(gradients, shifts, mean, stddev, rate, curvature, prior_scale, sizes):
    """The equations of `Ivon`, for a sample size that grows."""
    momentum, damping = 0.0, curvature
    for step, size in enumerate(sizes):
        decay = 1 / (size * prior_scale**2)
        gradient, shift = gradients[step], shifts[step]
        estimate = gradient * shift / stddev**2
        momentum = 0.9 * momentum + 0.1 * gradient
        curvature = max(0.999 * curvature + 0.001 * estimate, 0.0)
        slope = momentum / (1 - 0.9 ** (step + 1)) + decay * mean
        mean = mean - rate * slope / (curvature + decay + damping)
        stddev = 1 / np.sqrt(size * (curvature + decay))
    return mean, stddev


@pytest.mark.parametrize("curvature", [0.7, 1e-4])  # of the small one, some are clipped
def test_steps_of_a_curved_weight_are_those_of_ivon_and_others_those_of_adam(curvature):
    posterior, bias = centre([0.5, -0.25]), tf.Variable([1.0], name="bias")
    variables = [posterior.mean, bias]
    optimizer = make_ivon(posterior, variables, 0.2, curvature, 3.0)
    gradients = np.array([[0.3, 0.2], [-0.4, 0.5], [0.25, -0.1]])
    shifts = np.array([[0.1, -0.2], [0.05, 0.1], [-0.3, 0.2]])
    sizes = [10.0, 20.0, 40.0]
    for gradient, shift, size in zip(gradients, shifts, sizes, strict=True):
        drawn = {"weight": posterior.mean + np.float32(shift)}
        given = [tf.constant([gradient], tf.float32), tf.constant([2.0])]
        optimizer.apply(given, variables, drawn, tf.constant(size))
    for i, start in enumerate((0.5, -0.25)):
        options = 0.5, 0.2, curvature, 3.0, sizes
        expected = ivon(gradients[:, i], shifts[:, i], start, *options)
        found = posterior.mean[0, i], posterior.stddev[0, i]
        np.testing.assert_allclose(found, expected, rtol=1e-5)
    np.testing.assert_allclose(bias, [0.7], rtol=1e-5)


def test_of_a_noisy_quadratic_loss_ivon_finds_the_posterior_of_bayes_rule():
    # n slope / 2 (w - b)^2 + w^2 / (2 p^2) is -log p(w, data), up to a constant
    slope, size, prior_scale, steps = 0.1, 1e4, 0.1, 6000
    solutions = np.linspace(-1.0, 1.0, 400, dtype=np.float32)[np.newaxis]
    posterior = centre([0.0] * 400)
    optimizer = make_ivon(posterior, [posterior.mean], 0.02, 0.3, prior_scale)

    @tf.function(autograph=False)
    def learn():
        def step(number):
            noise = tf.random.stateless_normal([2, 1, 400], [7, number])
            drawn = posterior.mean + posterior.stddev * noise[0]
            gradient = slope * (drawn - solutions) + 0.1 * noise[1]
            optimizer.apply([gradient], [posterior.mean], {"weight": drawn}, size)
            return number + 1

        tf.while_loop(lambda number: number < steps, step, [0])

    learn()
    # h_hat varies by 0.1 / stddev = 3; its running mean over about 2,000 steps by 0.07, and
    # the mean over weights by 0.004. The further term of IVON would add 0.05.
    precision = np.mean(1.0 / posterior.stddev.numpy() ** 2)
    expected = size * slope + 1 / prior_scale**2
    assert precision == pytest.approx(expected, abs=5 * 0.004 * size)
    shrunk = size * slope * solutions / expected
    np.testing.assert_allclose(posterior.mean, shrunk, atol=0.3)
    assert np.polyfit(shrunk[0], posterior.mean[0], 1)[0] == pytest.approx(1.0, abs=0.03)


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


SHARE = 0.1


def _average_of(share, learned):
    """What a variable holds in place of what these steps have learned."""
    weight = tf.Variable(tf.zeros_like(learned[0]))
    average = WeightAverage([weight], share)
    for step, value in enumerate(learned, 1):
        weight.assign(value)
        average.follow(tf.constant(step, tf.int64))
    with average.in_place():
        return weight.numpy()


def test_steps_count_by_a_power_of_their_number_and_are_a_share_of_all_old():
    count, power = 2000, 1 / SHARE - 1
    counted = _average_of(SHARE, np.eye(count, dtype=np.float32))
    steps = np.arange(1, count + 1)
    # Unrolled, the recursion has ratios of gamma functions, which come to be powers.
    exact = np.exp(special.gammaln(steps + power) - special.gammaln(steps))
    np.testing.assert_allclose(counted, exact / exact.sum(), rtol=1e-3, atol=1e-9)
    powers = (steps / count) ** power
    np.testing.assert_allclose(counted, powers / powers.sum(), rtol=0.05, atol=1e-4)
    age = counted @ (count - steps)
    assert age == pytest.approx((count - 1) * SHARE / (1 + SHARE), rel=1e-4)


def test_the_share_of_all_is_the_mean_and_that_of_next_to_none_the_last(noise):
    learned = noise(20, 2).numpy()
    np.testing.assert_allclose(_average_of(1.0, learned), learned.mean(0), atol=1e-6)
    np.testing.assert_allclose(_average_of(1e-9, learned), learned[-1], atol=1e-6)


def test_what_was_learned_comes_back_after_an_error_too():
    weight = tf.Variable(0.0)
    average = WeightAverage([weight], share=1.0)
    for step in (1, 2):
        weight.assign(step)
        average.follow(step)
    with contextlib.suppress(KeyboardInterrupt), average.in_place():
        assert float(weight) == 1.5
        raise KeyboardInterrupt
    assert float(weight) == 2.0


def _variables(agent, trainable=False):
    parts = [agent.model, agent.value] if agent.value else [agent.model]
    names = "trainable_variables" if trainable else "variables"
    return [variable for part in parts for variable in getattr(part, names)]


def _values(agent):
    return [variable.numpy() for variable in _variables(agent)]


@pytest.mark.slow
@pytest.mark.parametrize(("devices", "value"), [("default", "td"), ("mirrored", "none")])
@pytest.mark.usefixtures("eagerly")
def test_all_that_decides_is_averaged_over_what_gradient_steps_have_learned(
    devices, value, build_agent, replay
):
    agent = build_agent(f"averaging={SHARE}", f"devices={devices}", f"value={value}")
    learning = Learning(agent, replay, choose_devices(devices), 4, 8, seed=0)
    learned = [(learning.run(1, lambda done: None), _values(agent))[1] for _ in range(3)]
    with agent.averaged():
        averaged = _values(agent)
    for mine, last in zip(_values(agent), learned[-1], strict=True):
        np.testing.assert_array_equal(mine, last)
    trained = {variable.ref() for variable in _variables(agent, trainable=True)}
    steps = zip(*learned, strict=True)
    for variable, found, values in zip(_variables(agent), averaged, steps, strict=True):
        is_averaged = variable.ref() in trained
        expected = _average_of(SHARE, values) if is_averaged else values[-1]
        np.testing.assert_allclose(found, expected, atol=1e-5)
