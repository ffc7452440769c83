"""Tests of examples.methods.images_methods."""

import dataclasses
import math

import numpy as np
import pytest
import tensorflow as tf

import bayes_rl as ed
from examples.methods import images_methods
from examples.methods.images_methods import GRAYS, METHODS, SMALL


def test_pixels_have_the_shares_of_their_grays():
    train = np.zeros([2, 16, 16, 1], np.int32)
    log_probability, _ = METHODS["pixels"](train, SMALL, 0)
    expected = 256 * math.log(3 / (2 + GRAYS))
    np.testing.assert_allclose(log_probability(train), [[expected] * 2], rtol=1e-5)


def test_a_position_sees_those_before_it_of_its_row_and_the_rows_above():
    mask = images_methods.make_mask(3, 2, 1)[0]
    # keys: two of the row above, two of the own
    assert mask[0].tolist() == [[False, False, True, False], [False, False, True, True]]
    assert mask[2].tolist() == [[True, True, True, False], [True] * 4]


def test_logits_depend_on_earlier_pixels_alone():
    tf.keras.utils.set_random_seed(1)
    sizes = dataclasses.replace(SMALL, layers=2)
    model = images_methods.make_transformer([4, 3, 1], 5, sizes)
    before = np.ones([1, 4, 3, 1], np.int32)
    after = before.copy()
    after[0, 1, 1] = 4  # position 4
    moved = np.abs(model(after) - model(before)).max(axis=-1)[0]
    assert moved[:5].max() == 0.0
    assert moved[5:9].min() > 0.0  # of its row, and of the next


def test_each_draw_of_weights_shares_a_pixel_among_its_grays():
    tf.keras.utils.set_random_seed(1)
    stddev = tf.keras.initializers.Constant(1.0)
    posterior = ed.initializers.TrainableNormal("glorot_uniform", stddev)
    model = images_methods.make_transformer(
        [16, 16, 1], GRAYS, SMALL, kernel_initializer=posterior
    )
    log_probs, _ = images_methods.by_draws(model, ed.sample_weights(model, 2, 0))
    images = np.zeros([GRAYS, 16, 16, 1], np.int32)
    images[:, 0, 3, 0] = np.arange(GRAYS)
    first, second = np.exp(log_probs(images))[:, :, 3]
    np.testing.assert_allclose([first.sum(), second.sum()], 1.0, rtol=1e-5)
    assert np.abs(first - second).max() > 0.01


@pytest.fixture
def untrained(monkeypatch):
    monkeypatch.setattr(images_methods, "_fit", lambda model, *_: model)


@pytest.mark.usefixtures("untrained")
@pytest.mark.parametrize("method", ["deep_ensemble", "dropout"])
def test_members_and_masks_differ(method):
    sizes = dataclasses.replace(SMALL, dropout=0.5)
    images = np.ones([2, 16, 16, 1], np.int32)
    first, second = METHODS[method](images, sizes, 0)[0](images)
    assert np.abs(first - second).max() > 0.01
    assert (np.ptp(first, axis=0).max() > 0.01) == (method == "dropout")


@pytest.mark.usefixtures("untrained")
def test_draws_of_laplace_are_of_the_last_layer_alone(monkeypatch):
    given = []
    monkeypatch.setattr(images_methods, "by_draws", lambda *found: given.extend(found))
    METHODS["laplace"](np.ones([2, 16, 16, 1], np.int32), SMALL, 0)
    model, draws = given
    last = model.layers[-2]
    assert draws.keys() == {f"{last.name}/kernel", f"{last.name}/bias"}
    assert [len(draw) for draw in draws.values()] == [SMALL.draws] * 2


def test_grays_that_are_all_as_likely_have_their_density():
    images = np.random.default_rng(0).integers(0, GRAYS, [20, 16, 16, 1])
    logits, log_slopes = images_methods.noisy_logits(images)
    shares = 1 / (1 + np.exp(-logits))
    assert 0.01 <= shares.min() < 0.02
    assert 0.98 < shares.max() <= 0.99
    # of logits of shares uniform from 0.01 to 0.99
    log_density = np.log(shares * (1 - shares) / 0.98)
    np.testing.assert_allclose(log_density + log_slopes, -np.log(GRAYS), atol=1e-3)
