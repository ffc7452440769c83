"""Tests of agents.planet.action_space, against probabilities that are known."""

import itertools

import numpy as np
import pytest
import tensorflow as tf

from agents.planet.action_space import BOX, Categories, check_noise, make_space
from agents.planet.explore.noise import GaussianNoise
from agents.system.errors import UserError
from agents.system.seeds import normal

SPACE = Categories([3, 2])
P = np.array([0.7, 0.3, 0.0, 0.1, 0.9], np.float32)
DRAWS = 20_000


def one_hot(*choices):
    return np.concatenate(
        [np.eye(n, dtype=np.float32)[c] for n, c in zip((3, 2), choices, strict=True)]
    )


def frequencies(drawn):
    np.testing.assert_array_equal(np.sort(np.unique(drawn)), [0, 1])
    assert np.all(np.sum(drawn, -1) == 2)
    return np.mean(drawn, 0)


def near(found, expected):
    """Within four standard errors."""
    bound = 4 * np.sqrt(expected * (1 - expected) / DRAWS) + 1e-12
    assert np.all(np.abs(found - expected) <= bound), (found, expected)


def test_categories_are_drawn_with_their_probabilities():
    noise = normal([DRAWS, 5], tf.constant([0, 1]))
    near(frequencies(SPACE.draw(P, None, noise).numpy()), P)


def test_noise_in_common_makes_a_common_choice_and_without_noise_it_is_the_mode():
    np.testing.assert_array_equal(SPACE.draw(P, None, tf.zeros([5])), one_hot(0, 1))
    np.testing.assert_array_equal(SPACE.mode(tf.constant(P)), one_hot(0, 1))
    extreme = SPACE.draw(P, None, [-30.0, 30.0, 30.0, 30.0, -30.0])
    np.testing.assert_array_equal(extreme, one_hot(1, 0))


def test_a_search_begins_between_the_last_plan_and_any():
    np.testing.assert_allclose(SPACE.start(tf.zeros([5])), [1 / 3] * 3 + [1 / 2] * 2)
    expected = 0.5 * P + 0.5 * np.array([1 / 3] * 3 + [1 / 2] * 2)
    np.testing.assert_allclose(SPACE.start(tf.constant(P)), expected, rtol=1e-6)


@pytest.mark.parametrize("of_elites", [False, True])
def test_noise_is_a_random_category_with_a_probability(of_elites):
    noise = GaussianNoise(0.3, None, steps=0, of_elites=of_elites, color=0.0)
    actions = tf.tile(one_hot(0, 1)[np.newaxis], [DRAWS, 1])
    spread = tf.tile(P[np.newaxis], [DRAWS, 1])
    found = noise(actions, 0, tf.constant([0, 1]), spread, space=SPACE)
    kept = P if of_elites else one_hot(0, 1)
    expected = 0.7 * kept + 0.3 * np.array([1 / 3] * 3 + [1 / 2] * 2)
    near(frequencies(found.numpy()), expected)


def test_uninformed_plans_hold_one_category_each():
    plans = SPACE.uninformed(tf.zeros([2, 4, 3, 5])).numpy()
    for number, choices in enumerate([(0, 0), (1, 1), (2, 0), (0, 1)]):
        expected = np.broadcast_to(one_hot(*choices), [2, 3, 5])
        np.testing.assert_array_equal(plans[:, number], expected)


def test_probabilities_of_logits_are_a_softmax_of_each_part():
    logits = np.array([1.0, 0.0, -2.0, 3.0, 1.0], np.float32)
    soft = [np.exp(part) / np.exp(part).sum() for part in np.split(logits, [3])]
    found = np.exp(SPACE.log_probabilities(tf.constant(logits), least=0.0))
    np.testing.assert_allclose(found, np.concatenate(soft), rtol=1e-5)
    mixed = np.concatenate([0.9 * p + 0.1 / len(p) for p in soft])
    found = np.exp(SPACE.log_probabilities(tf.constant(logits), least=0.1))
    np.testing.assert_allclose(found, mixed, rtol=1e-5)


def test_a_mean_of_one_part_is_exact_whatever_is_drawn():
    space, worth = Categories([3]), np.array([1.0, -2.0, 5.0], np.float32)
    p = tf.constant([[0.2, 0.5, 0.3]])
    with tf.GradientTape() as tape:
        tape.watch(p)
        drawn = tf.constant([[0.0, 0.0, 1.0]])
        mean = space.expectation(lambda a: tf.linalg.matvec(a, worth), drawn, p)
    np.testing.assert_allclose(mean, [0.2 - 1.0 + 1.5], rtol=1e-6)
    np.testing.assert_allclose(tape.gradient(mean, p), [worth], rtol=1e-6)


def test_a_mean_of_several_parts_and_its_gradient_are_right_over_the_draws():
    table = np.random.default_rng(0).normal(size=[3, 2]).astype(np.float32)
    p = tf.constant([[0.2, 0.5, 0.3, 0.6, 0.4]])

    def worth(actions):
        first, second = tf.split(actions, [3, 2], -1)
        return tf.einsum("...i,ij,...j->...", first, table, second)

    means, gradients = 0.0, 0.0
    for i, j in itertools.product(range(3), range(2)):
        with tf.GradientTape() as tape:
            tape.watch(p)
            mean = SPACE.expectation(worth, tf.constant([one_hot(i, j)]), p)
        probability = float(p[0, i] * p[0, 3 + j])
        means += probability * mean
        gradients += probability * tape.gradient(mean, p)
    first, second = np.split(p.numpy()[0], [3])
    np.testing.assert_allclose(means, [first @ table @ second], rtol=1e-5)
    expected = np.concatenate([table @ second, first @ table])
    np.testing.assert_allclose(gradients, [expected], rtol=1e-5)


def test_a_space_is_a_box_unless_there_are_categories():
    assert make_space(()) is BOX
    assert make_space((2, 4)).categories == (2, 4)


@pytest.mark.parametrize("name", ["stddev", "final_stddev"])
def test_noise_that_is_no_probability_is_refused_for_categories_alone(name):
    values = {"stddev": 0.1, "final_stddev": 0.1, "steps": 9} | {name: 1.5}
    noise = GaussianNoise(**values, of_elites=False, color=0.0)
    check_noise(noise, BOX)
    message = f"action_noise.{name} must be at most 1 where .* categories, .* got 1.5"
    with pytest.raises(UserError, match=message):
        check_noise(noise, SPACE)
