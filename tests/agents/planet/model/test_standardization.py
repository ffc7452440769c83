"""Tests of agents.planet.model.standardization, and of the world model's use of it."""

import numpy as np
import pytest
import tensorflow as tf

from agents.planet.model.observed import LEAST_STDDEV
from agents.planet.model.standardization import (
    CLIP,
    NOTHING,
    PIXEL_FLOOR,
    SHARE,
    Standardizer,
)
from bayes_rl.weights import hold, mean_weights

SEED = tf.constant([1, 2])
ROWS = np.random.default_rng(0).normal([3.0, -40.0, 1e4], [0.2, 7.0, 90.0], [60, 3])
MEAN, STDDEV = ROWS.mean(0), ROWS.std(0)


def updated(*parts):
    standardizer = Standardizer(parts[0].shape[1:])
    for part in parts:
        standardizer.update(part)
    return standardizer


@pytest.mark.parametrize("cuts", [[], [1], [59], [7, 8, 30], range(1, 60)])
def test_moments_are_those_of_all_rows_in_whatever_parts_they_come(cuts):
    found = updated(*np.split(ROWS, list(cuts)))
    np.testing.assert_allclose(found.mean, MEAN, rtol=1e-6)
    np.testing.assert_allclose(found.stddev, STDDEV, rtol=1e-6)


def test_vectors_come_in_units_of_their_spread_and_go_back():
    standardizer = updated(ROWS)
    found = standardizer(tf.constant(ROWS[None], tf.float32))
    np.testing.assert_allclose(found[0], (ROWS - MEAN) / STDDEV, atol=2e-4)
    np.testing.assert_allclose(standardizer.invert(found)[0], ROWS, rtol=1e-6)


def test_what_does_not_move_is_divided_by_a_share_of_its_size():
    standardizer = updated(np.full([9, 2], [2.0, 0.0]))
    np.testing.assert_allclose(standardizer.stddev, [2.0 * SHARE, NOTHING], rtol=1e-4)
    found = standardizer([[2.0 + 6 * SHARE, 3 * NOTHING]])
    np.testing.assert_allclose(found, [[3.0, 3.0]], rtol=0.01)


@pytest.mark.parametrize("unit", [1e-4, 1e-3, 1e6])  # such as kilometres, pascals
def test_units_change_nothing(unit):
    rows = ROWS.astype(np.float32)
    seen = [updated(part)(part) for part in (rows, np.float32(unit) * rows)]
    np.testing.assert_allclose(*seen, atol=2e-3)
    assert np.std(seen[0], axis=0) == pytest.approx(1.0, abs=1e-3)


def test_what_moves_little_beside_its_size_is_seen_and_rounding_is_not():
    noise = np.random.default_rng(2).normal(size=[60, 3])
    rows = [1e5, 2.0, 0.0] + [10.0, 1e-9, 1e-9] * noise
    pressure, *constant = np.std(updated(rows)(rows), axis=0)
    assert pressure == pytest.approx(1.0, abs=0.01)
    assert max(constant) < 0.02


def test_what_lies_far_is_clipped():
    far = np.stack([MEAN + 99 * STDDEV, MEAN - 99 * STDDEV]).astype(np.float32)
    np.testing.assert_array_equal(updated(ROWS)(far), [[CLIP] * 3, [-CLIP] * 3])


def test_before_the_first_update_vectors_stay_as_they_are():
    vectors = tf.constant([[1.5, -9.0, 0.001]])
    standardizer = Standardizer([3])
    np.testing.assert_array_equal(standardizer(vectors), vectors)
    np.testing.assert_array_equal(standardizer.invert(vectors), vectors)


def episode_of(observation, reward=None):
    reward = np.zeros(len(observation)) if reward is None else reward
    return {"observation": observation.astype(np.float32), "reward": reward}


@pytest.fixture
def seen(make_model):
    """A model that has seen two episodes."""
    model = make_model()
    model.see(episode_of(ROWS[:20, :2]))
    model.see(episode_of(ROWS[20:, :2]))
    return model


def test_networks_see_the_spread_and_people_the_units_of_the_task(seen, noise):
    raw = tf.constant(ROWS[None, :, :2], tf.float32)
    mean, stddev, features = MEAN[:2], STDDEV[:2], noise(2, 4, 9)
    np.testing.assert_allclose(
        seen.parts["observation"].preprocess(raw, SEED)[0],
        (ROWS[:, :2] - mean) / stddev,
        atol=1e-4,
    )
    np.testing.assert_array_equal(seen.observed(raw, SEED), raw)
    with hold(seen, mean_weights(seen)):
        expected = mean + stddev * seen.parts["observation"].decode(features)
        np.testing.assert_allclose(seen.expected_observation(features), expected, 1e-4)
    np.testing.assert_allclose(seen.observation_stddev, 0.1 * stddev, rtol=1e-5)


def test_losses_are_those_of_the_standardized_batch(seen, make_model, make_batch, noise):
    batch, raw = make_batch(2, 5), make_model("world_model.standardize=false")
    scaled = batch | {"observation": MEAN[:2] + STDDEV[:2] * batch["observation"]}
    with hold(seen, mean_weights(seen)):
        found, *_ = seen.losses(scaled, noise(2, 5, 3), SEED)
    with hold(raw, mean_weights(raw)):
        expected, *_ = raw.losses(batch, noise(2, 5, 3), SEED)
    for name, loss in found.items():
        np.testing.assert_allclose(loss, expected[name], rtol=1e-4, err_msg=name)


def test_without_standardization_an_episode_leaves_no_trace(make_model):
    model = make_model("world_model.standardize=false", "task=gym:Pendulum-v1")
    count = len(model.variables)
    model.see(episode_of(ROWS[:, :2], np.arange(60.0)))
    vector = tf.constant([[15.0, -20.0]])
    np.testing.assert_array_equal(
        model.parts["observation"].preprocess(vector, SEED), vector
    )
    assert float(model.reward_unit) == 1.0
    assert float(model.observation_stddev) == pytest.approx(0.1)
    assert len(make_model().variables) == count + 3


@pytest.fixture
def images():
    return np.random.default_rng(1).integers(0, 256, [9, 64, 64, 3], np.uint8)


def test_each_pixel_is_in_units_of_its_spread_as_the_networks_see_it(make_model, images):
    """Half of the pictures is still; the networks see means over squares of 4 pixels."""
    images[:, 32:] = 80
    model = make_model(
        "world_model.image_pool=2", "world_model.image_depth=2", image_size=64
    )
    model.see({"observation": images, "reward": np.zeros(9)})
    middles = (images // 8 + 0.5) / 32 - 0.5
    seen = middles.reshape(9, 32, 2, 32, 2, 3).mean((2, 4))
    stddev = np.sqrt(seen.var(0) + PIXEL_FLOOR**2)
    np.testing.assert_allclose(model.observation_stddev, 0.1 * stddev, rtol=1e-5)
    dequantized = model.observed(images, SEED)
    assert np.abs(dequantized - seen).max() < 0.5 / 32
    expected = (dequantized - seen.mean(0)) / stddev
    np.testing.assert_allclose(
        model.parts["observation"].preprocess(images, SEED), expected, atol=1e-4
    )


def test_decoded_images_come_back_to_what_can_be_shown(make_model, images, noise):
    model = make_model("world_model.image_depth=2", image_size=64)
    still = np.full_like(images, 80)
    model.see({"observation": still, "reward": np.zeros(9)})
    decoded = model.parts["observation"].decode(noise(2, 9))
    expected = model.expected_observation(noise(2, 9))
    np.testing.assert_allclose(expected, 10.5 / 32 - 0.5 + PIXEL_FLOOR * decoded, 1e-5)
    shown = model.parts["observation"].to_image(expected).numpy().astype(int)
    assert np.abs(shown - 255 * (expected + 0.5)).max() < 0.51


def test_images_that_are_not_standardized_are_what_is_observed(make_model, images):
    words = ("world_model.image_depth=2", "world_model.standardize=false")
    model = make_model(*words, image_size=64)
    model.see({"observation": images, "reward": np.zeros(9)})
    assert not [v for v in model.variables if "standardizer" in v.name]
    seen = model.parts["observation"].preprocess(images, SEED)
    np.testing.assert_array_equal(seen, model.observed(images, SEED))
    assert float(model.observation_stddev) == pytest.approx(0.1)


REWARDS = np.array([1e6, -700.0, 300.0, 500.0])  # the first belongs to no action


def test_rewards_of_any_size_are_divided_by_their_size(make_model, noise):
    model, features = make_model("task=gym:Pendulum-v1"), noise(3, 9)
    head = model.reward(features).numpy()
    model.see(episode_of(ROWS[:4, :2], REWARDS))
    unit = np.sqrt(np.mean(REWARDS[1:] ** 2))
    np.testing.assert_allclose(model.reward_unit, unit, rtol=1e-5)
    np.testing.assert_allclose(model.reward(features), unit * head, rtol=1e-4)
    reward = tf.constant([100.0, -200.0, 300.0])
    expected = -0.5 * (reward / unit - head) ** 2 - 0.5 * np.log(2 * np.pi)
    found = model.reward_log_prob(features, reward)
    np.testing.assert_allclose(found, expected, rtol=1e-4)


@pytest.mark.parametrize(
    ("rewards", "unit"),
    [
        ([0, 5, 5, 5], 5.0),  # one for each step survived: no spread
        ([0, 0, 0, 0], 1.0),  # nothing is known yet
        ([0, 0, 0, -3], 3.0),  # rare
    ],
)
def test_the_unit_of_rewards_is_no_larger_or_smaller_than_they_are(
    make_model, rewards, unit
):
    model = make_model("task=gym:Pendulum-v1")
    for _ in range(3):
        model.see(episode_of(ROWS[:4, :2], np.float32(rewards)))
    assert float(model.reward_unit) == pytest.approx(unit)


@pytest.mark.parametrize("task", ["cartpole_balance", "fake"])
def test_rewards_of_a_known_size_stay_as_they_are(make_model, noise, task):
    model, features = make_model(f"task={task}"), noise(3, 9)
    before = model.reward(features).numpy()
    model.see(episode_of(ROWS[:4, :2], REWARDS))
    np.testing.assert_array_equal(model.reward(features), before)
    assert float(model.reward_unit) == 1.0


def test_a_learned_stddev_starts_at_the_given_one(make_model, make_batch, noise):
    words = ["world_model.learn_observation_stddev=true"]
    model, plain = make_model(*words), make_model()
    given = (make_batch(), noise(3, 5, 3), SEED)
    with hold(model, mean_weights(model)), hold(plain, mean_weights(plain)):
        (found, *_), (expected, *_) = (each.losses(*given) for each in (model, plain))
    np.testing.assert_allclose(
        found["observation_loss"], expected["observation_loss"], rtol=1e-5
    )
    (learned,) = (v for v in model.trainable_variables if "log_stddev" in v.name)
    learned.assign(np.log([0.5, 0.1]))
    model.see(episode_of(ROWS[:, :2]))
    np.testing.assert_allclose(model.observation_stddev, STDDEV[:2] * [0.5, 0.1], rtol=1e-5)


def test_a_learned_stddev_starts_at_its_floor_at_least(make_model):
    words = ["world_model.learn_observation_stddev=true"]
    model = make_model(*words, "world_model.observation_stddev=0.01")
    (learned,) = (v for v in model.trainable_variables if "log_stddev" in v.name)
    np.testing.assert_allclose(np.exp(learned), LEAST_STDDEV, rtol=1e-5)


def test_a_learned_stddev_has_a_floor_from_which_it_rises(build_agent, make_batch):
    agent = build_agent("world_model.learn_observation_stddev=true", "compile=false")
    variables = agent.model.trainable_variables
    (learned,) = (v for v in variables if "log_stddev" in v.name)
    learned.assign(np.log([0.5, 0.01]))
    agent.train(make_batch(2, 4))
    assert np.exp(learned[1]) == pytest.approx(LEAST_STDDEV, rel=1e-5)
    agent.train(make_batch(2, 4))
    assert np.exp(learned[1]) > LEAST_STDDEV
