"""Tests of agents.planet.model.observed."""

import numpy as np
import pytest
import tensorflow as tf
from scipy import stats

SEED = tf.constant([1, 2])


@pytest.fixture(scope="module")
def images():
    return np.random.default_rng(0).integers(0, 256, [1, 2, 32, 32, 3], np.uint8)


@pytest.fixture(scope="module")
def image(make_model):
    return make_model("world_model.image_depth=2", image_size=32).parts["observation"]


def test_images_keep_5_bits_and_get_uniform_noise(image, images):
    observed = image.observed(images, SEED).numpy().astype(np.float64)
    noise = (observed + 0.5) * 32 - images // 8
    assert observed.min() >= -0.5
    assert observed.max() < 0.5
    assert noise.min() >= -1e-5
    assert stats.kstest(noise.ravel(), "uniform").pvalue > 0.01


def test_to_image_inverts_observed_to_5_bits(image, images):
    back = image.to_image(image.observed(images, SEED)).numpy()
    assert back.dtype == np.uint8
    assert np.abs(back.astype(int) - images).max() <= 8


def test_pooled_images_are_means_of_squares_and_shown_at_the_observed_size(make_model):
    words = "world_model.image_pool=2", "world_model.image_depth=2"
    image = make_model(*words, image_size=64).parts["observation"]
    images = tf.fill([1, 2, 64, 64, 3], tf.constant(8 * 5, tf.uint8))
    seen = image.observed(images, SEED)
    assert seen.shape == [1, 2, 32, 32, 3]
    np.testing.assert_allclose(seen, 5.5 / 32 - 0.5, atol=0.5 / 32)
    assert image.encode(seen).shape[:2] == [1, 2]
    assert image.decode(tf.zeros([1, 2, 9])).shape == seen.shape
    assert image.to_image(seen).shape == images.shape


def test_to_image_cuts_what_no_image_can_show(image):
    shown = image.to_image(tf.constant([-9.0, -0.5, 0.5, 9.0]))
    np.testing.assert_array_equal(shown, [0, 0, 255, 255])


def test_vectors_that_are_not_standardized_are_not_preprocessed(make_model):
    vector = make_model("world_model.standardize=false").parts["observation"]
    numbers = tf.constant([[1.5, -20.0]])
    np.testing.assert_array_equal(vector.preprocess(numbers, SEED), numbers)


def test_the_loss_of_an_image_is_summed_over_its_pixels(image, images, noise):
    features = noise(1, 2, 9)
    seen, decoded = image.preprocess(images, SEED), image.decode(features)
    assert decoded.shape == (1, 2, 32, 32, 3)
    stddev = 0.1  # of the tiny world model
    expected = -stats.norm(decoded, stddev).logpdf(seen).sum((2, 3, 4))
    np.testing.assert_allclose(image.loss(features, seen), expected, rtol=1e-4)


def test_each_part_is_learned_in_units_of_its_own_spread(make_model):
    mixed = make_model("world_model.image_depth=2", beside={"image_eye": (32, 1)})
    rng = np.random.default_rng(2)
    episode = {
        "observation": rng.normal(1e3, 50.0, [200, 2]).astype(np.float32),
        "image_eye": rng.integers(0, 100, [200, 32, 32, 1], np.uint8),
        "reward": np.zeros(200, np.float32),
    }
    mixed.see(episode)
    vector = mixed.parts["observation"].preprocess(episode["observation"], SEED)
    image = mixed.parts["image_eye"].preprocess(episode["image_eye"], SEED)
    for array in (vector, image):
        assert np.mean(array) == pytest.approx(0.0, abs=0.02)
        assert np.std(array) == pytest.approx(1.0, abs=0.06)  # but for the floor
