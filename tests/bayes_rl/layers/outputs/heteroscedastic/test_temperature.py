"""Tests of bayes_rl.layers.outputs.heteroscedastic.temperature."""

import numpy as np
import pytest
import tensorflow as tf

from bayes_rl.layers.outputs.heteroscedastic.temperature import (
    compute_temperature,
    inverse_temperature,
)

BOUNDS = [(None, None), (0.5, None), (None, 4.0), (0.5, 4.0)]


@pytest.mark.parametrize("bounds", BOUNDS)
def test_one_is_the_inverse_of_the_other_between_the_bounds(bounds):
    for temperature in (0.6, 1.5, 3.9):
        raw = tf.constant(inverse_temperature(temperature, *bounds))
        np.testing.assert_allclose(
            compute_temperature(raw, *bounds), temperature, rtol=1e-5
        )


@pytest.mark.parametrize(
    ("bounds", "middle"), list(zip(BOUNDS, (1.0, 1.5, 2.0, 2.25), strict=True))
)
def test_outside_of_its_bounds_a_temperature_is_their_middle(bounds, middle):
    raw = tf.constant(inverse_temperature(-1.0, *bounds))
    np.testing.assert_allclose(compute_temperature(raw, *bounds), middle, rtol=1e-6)
