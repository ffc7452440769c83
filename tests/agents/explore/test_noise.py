"""Tests of agents.explore.noise."""

import numpy as np
import pytest
import tensorflow as tf

from agents.explore.noise import GaussianNoise


@pytest.mark.parametrize(
    ("step", "stddev"), [(0, 0.3), (250, 0.25), (1000, 0.1), (5000, 0.1)]
)
def test_stddev_goes_linearly_to_the_final_one_and_stays(step, stddev):
    noise = GaussianNoise(0.3, 0.1, 1000, False)
    assert float(noise.stddev_at(step)) == pytest.approx(stddev)


@pytest.mark.parametrize(("final_stddev", "steps"), [(0.1, 0), (None, 1000)])
def test_without_steps_or_end_the_stddev_is_constant(final_stddev, steps):
    noise = GaussianNoise(0.3, final_stddev, steps, False)
    assert float(noise.stddev_at(10_000)) == pytest.approx(0.3)


def test_noise_has_the_stddev_of_its_time():
    noise = GaussianNoise(0.2, 0.1, 100, False)
    actions = noise(tf.zeros([5000, 1]), tf.constant(50, tf.int64), tf.constant([1, 2]))
    assert np.std(actions) == pytest.approx(0.15, rel=0.05)
    assert np.mean(actions) == pytest.approx(0.0, abs=0.01)


@pytest.mark.parametrize(("of_elites", "stddevs"), [(True, [0.2, 0.6]), (False, [0.2] * 2)])
def test_noise_is_at_least_the_spread_of_the_elites_if_it_is_to_be(of_elites, stddevs):
    noise = GaussianNoise(0.2, None, 0, of_elites)
    spread = tf.tile([[0.1, 0.6]], [20_000, 1])
    actions = noise(0.0 * spread, 0, tf.constant([1, 2]), spread).numpy()
    inside = np.abs(actions) < 1.0  # bounds clip the tails of the second
    assert np.mean(inside[:, 1]) == pytest.approx(0.9044 if of_elites else 1.0, abs=0.01)
    within = np.mean(np.abs(actions) < stddevs, axis=0)
    np.testing.assert_allclose(within, 0.6827, atol=0.014)


def test_actions_stay_within_their_bounds():
    actions = GaussianNoise(2.0, None, 0, False)(
        tf.ones([100, 2]) * 0.9, 0, tf.constant([1, 2])
    ).numpy()
    assert actions.max() == 1.0
    assert actions.min() == -1.0


def test_a_seed_gives_the_same_noise():
    noise = GaussianNoise(0.3, None, 0, False)
    first, again, other = (
        noise(tf.zeros([3, 2]), 0, tf.constant([0, seed])).numpy() for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(first, again)
    assert not np.any(first == other)


def test_no_stddev_is_no_noise():
    actions = tf.constant([[0.5, -0.25]])
    np.testing.assert_array_equal(
        GaussianNoise(0.0, None, 0, False)(actions, 0, tf.constant([0, 1])), actions
    )


@pytest.mark.parametrize("name", ["stddev", "final_stddev", "steps"])
def test_negative_values_are_refused(name):
    values = {"stddev": 0.3, "final_stddev": 0.1, "steps": 10, "of_elites": False}
    with pytest.raises(ValueError, match=f"^{name} must be at least 0, got -1"):
        GaussianNoise(**values | {name: -1})
