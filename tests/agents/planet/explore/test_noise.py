"""Tests of agents.planet.explore.noise."""

import numpy as np
import pytest
import tensorflow as tf

from agents.planet.explore.noise import GaussianNoise


@pytest.mark.parametrize(
    ("step", "stddev"), [(0, 0.3), (250, 0.25), (1000, 0.1), (5000, 0.1)]
)
def test_stddev_goes_linearly_to_the_final_one_and_stays(step, stddev):
    noise = GaussianNoise(0.3, 0.1, 1000, False, 0.0)
    assert float(noise.stddev_at(step)) == pytest.approx(stddev)


@pytest.mark.parametrize(("final_stddev", "steps"), [(0.1, 0), (None, 1000)])
def test_without_steps_or_end_the_stddev_is_constant(final_stddev, steps):
    noise = GaussianNoise(0.3, final_stddev, steps, False, 0.0)
    assert float(noise.stddev_at(10_000)) == pytest.approx(0.3)


def test_noise_has_the_stddev_of_its_time():
    noise = GaussianNoise(0.2, 0.1, 100, False, 0.0)
    actions = noise(tf.zeros([5000, 1]), tf.constant(50, tf.int64), tf.constant([1, 2]))
    assert np.std(actions) == pytest.approx(0.15, rel=0.05)
    assert np.mean(actions) == pytest.approx(0.0, abs=0.01)


@pytest.mark.parametrize(("of_elites", "stddevs"), [(True, [0.2, 0.6]), (False, [0.2] * 2)])
def test_noise_is_at_least_its_share_of_the_spread_of_the_elites(of_elites, stddevs):
    noise = GaussianNoise(0.2, None, 0, of_elites, 0.0)
    spread = np.sqrt(2.0) * tf.tile([[0.1, 0.6]], [20_000, 1])
    actions = noise(0.0 * spread, 0, tf.constant([1, 2]), spread).numpy()
    inside = np.abs(actions) < 1.0  # bounds clip the tails of the second
    assert np.mean(inside[:, 1]) == pytest.approx(0.9044 if of_elites else 1.0, abs=0.01)
    within = np.mean(np.abs(actions) < stddevs, axis=0)
    np.testing.assert_allclose(within, 0.6827, atol=0.014)


@pytest.mark.parametrize("size", [1, 4, 12])
def test_noise_of_elites_that_lie_alike_far_apart_has_that_norm_in_any_body(size):
    noise = GaussianNoise(0.0, None, 0, True, 0.0)
    spread = tf.fill([20_000, size], 0.2)
    actions = noise(0.0 * spread, 0, tf.constant([1, 2]), spread).numpy()
    square = np.sum(actions**2, 1)
    error = square.std() / np.sqrt(len(square))
    assert np.mean(square) == pytest.approx(0.04, abs=4 * error)


def test_actions_stay_within_their_bounds():
    actions = GaussianNoise(2.0, None, 0, False, 0.0)(
        tf.ones([100, 2]) * 0.9, 0, tf.constant([1, 2])
    ).numpy()
    assert actions.max() == 1.0
    assert actions.min() == -1.0


def test_a_seed_gives_the_same_noise():
    noise = GaussianNoise(0.3, None, 0, False, 0.0)
    first, again, other = (
        noise(tf.zeros([3, 2]), 0, tf.constant([0, seed])).numpy() for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(first, again)
    assert not np.any(first == other)


def test_no_stddev_is_no_noise():
    actions = tf.constant([[0.5, -0.25]])
    np.testing.assert_array_equal(
        GaussianNoise(0.0, None, 0, False, 0.0)(actions, 0, tf.constant([0, 1])), actions
    )


@pytest.mark.parametrize("name", ["stddev", "final_stddev", "steps", "color"])
def test_negative_values_are_refused(name):
    values = {
        "stddev": 0.3,
        "final_stddev": 0.1,
        "steps": 10,
        "of_elites": False,
        "color": 1.0,
    }
    with pytest.raises(ValueError, match=f"^{name} must be at least 0, got -1"):
        GaussianNoise(**values | {name: -1})


def episode_of(noise, seed, rows, decisions):
    """Noise at decisions of many episodes, [decisions, rows]."""
    seeds = tf.constant([[3, seed]])  # of all rows
    still, at = tf.zeros([rows, 1]), tf.ones([rows], tf.int32)
    episode = lambda t: noise(still, 0, seeds, episode=(seeds, t * at))[:, 0]  # noqa: E731
    in_graph = tf.function(lambda: tf.map_fn(episode, tf.constant(decisions), tf.float32))
    return in_graph().numpy()


def test_pink_noise_is_as_strong_at_each_decision_as_white_noise():
    pink = GaussianNoise(0.1, None, 0, False, 1.0)
    drawn = episode_of(pink, seed=0, rows=400, decisions=[0, 1, 7, 100, 499])
    np.testing.assert_allclose(drawn.std(1), 0.1, rtol=5 / np.sqrt(2 * 400))


def test_noise_of_a_longer_episode_begins_again():
    pink = GaussianNoise(0.1, None, 0, False, 1.0)
    drawn = episode_of(pink, seed=0, rows=3, decisions=[0, 7, 500, 507, 1000])
    np.testing.assert_array_equal(drawn[2:4], drawn[:2])
    np.testing.assert_array_equal(drawn[4], drawn[0])
    assert np.all(drawn[0] != drawn[1])


def test_colored_noise_has_the_spectrum_of_its_color():
    for color in (1.0, 2.0):
        noise = GaussianNoise(0.1, None, 0, False, color)
        drawn = episode_of(noise, seed=1, rows=50, decisions=[*range(500)])
        power = np.mean(np.abs(np.fft.rfft(drawn, axis=0)) ** 2, axis=1)[1:-1]
        slope = np.polyfit(np.log(np.arange(1, len(power) + 1)), np.log(power), 1)[0]
        assert slope == pytest.approx(-color, abs=0.05)


def test_colored_noise_belongs_to_the_episode_alone():
    noise = GaussianNoise(0.1, None, 0, False, 1.0)
    seeds = tf.constant([[0, 1], [0, 2]])
    both = noise(tf.zeros([2, 3]), 0, seeds, episode=(seeds, tf.constant([4, 7]))).numpy()
    alone = noise(
        tf.zeros([1, 3]), 0, seeds[:1], episode=(seeds[1:], tf.constant([7]))
    ).numpy()
    np.testing.assert_allclose(both[1:], alone, rtol=1e-5)
    assert not np.any(both[0] == both[1])
