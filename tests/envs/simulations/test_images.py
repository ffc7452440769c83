"""Tests of envs.simulations.images."""

import numpy as np
import pytest
from dm_env import specs
from gymnasium import spaces

from envs.simulations.images import as_image


@pytest.mark.parametrize(
    ("space", "channels"),
    [
        (spaces.Box(0, 255, [48, 64, 3], np.uint8), 3),
        (spaces.Box(0, 255, [48, 64, 1], np.uint8), 1),
        (spaces.Box(0, 255, [48, 64], np.uint8), 1),
        (spaces.Box(0, 255, [3, 48, 64], np.uint8), 3),
        (spaces.Box(0.0, 1.0, [48, 64, 3]), 3),
        (spaces.Box(-1.0, 1.0, [1, 48, 64]), 1),
        (spaces.Box(0.0, 255.0, [48, 64, 3]), 3),
        (specs.Array([48, 64, 3], np.uint8), 3),
        (specs.BoundedArray([48, 64, 3], np.float32, 0.0, 1.0), 3),
    ],
)
def test_black_is_0_and_white_255_in_each_kind(space, channels):
    image = as_image(space)
    low = getattr(space, "low", getattr(space, "minimum", 0))
    high = getattr(space, "high", getattr(space, "maximum", 255))
    for value, pixel in ((np.min(low), 0), (np.max(high), 255)):
        made = image(np.full(space.shape, value, space.dtype), 16)
        assert made.dtype == np.uint8
        np.testing.assert_array_equal(made, np.full([16, 16, channels], pixel))


@pytest.mark.parametrize("first", [False, True])
def test_pixels_and_channels_stay_in_their_places(first):
    array = np.zeros([32, 32, 3], np.uint8)
    array[:16, :, 0], array[:, :16, 2] = 200, 100  # red above, blue on the left
    shape = [3, 32, 32] if first else [32, 32, 3]
    image = as_image(spaces.Box(0, 255, shape, np.uint8))
    made = image(np.moveaxis(array, 2, 0) if first else array, 2)
    np.testing.assert_array_equal(made[..., 0], [[200, 200], [0, 0]])
    np.testing.assert_array_equal(made[..., 2], [[100, 0], [100, 0]])


@pytest.mark.parametrize(
    "space",
    [
        spaces.Box(0, 255, [10, 10, 3], np.uint8),  # a small table
        spaces.Box(0.0, 1.0, [48, 64]),  # a matrix
        spaces.Box(0.0, 9e3, [48, 64, 1]),  # heights in metres
        spaces.Box(-np.inf, np.inf, [48, 64, 3]),
        spaces.Box(0.0, np.linspace(1.0, 2.0, 3, dtype=np.float32) * np.ones([48, 64, 3])),
        spaces.Box(0, 255, [48, 64, 4], np.uint8),
        spaces.Box(0, 255, [48, 64, 3], np.int32),
        spaces.Box(0.0, 1.0, [5]),
    ],
)
def test_other_numbers_are_no_image(space):
    assert as_image(space) is None


def test_an_image_of_another_shape_is_refused():
    image = as_image(spaces.Box(0, 255, [48, 64, 3], np.uint8))
    with pytest.raises(ValueError, match=r"must have shape \(48, 64, 3\), got \(48, 60, 3"):
        image(np.zeros([48, 60, 3], np.uint8), 32)


@pytest.mark.parametrize(
    ("low", "high", "value"), [(0.0, 1.0, 255.0), (-1.0, 1.0, 4.0), (0.0, 255.0, -300.0)]
)
def test_an_image_in_another_unit_is_refused(low, high, value):
    image = as_image(spaces.Box(low, high, [16, 16, 3]))
    message = f"must be from {low:g} to {high:g}, as its spec or space says, got 0 to"
    given = np.zeros([16, 16, 3])
    given[0, 0] = value
    if value < 0:
        message = f"says, got {value:g} to 0"
    with pytest.raises(ValueError, match=message):
        image(given, 16)
