"""Tests of rank-1 perturbations, in closed form."""

import types

import numpy as np
import pytest
import tensorflow as tf

from agents.planet.model.transitions import make_source
from bayes_rl.weights import hold, sample_weights

SCALE, PRIOR, INPUTS, UNITS, DRAWS = 0.3, 0.7, 5, 4, 4000


@pytest.fixture(scope="module")
def source():
    settings = types.SimpleNamespace(posterior_scale=SCALE, prior_scale=PRIOR)
    return make_source("rank1", settings)


@pytest.fixture(scope="module")
def layer(source):
    layer = source.dense(UNITS, None, "layer")
    layer.build([None, INPUTS])
    return layer


@pytest.fixture(scope="module")
def draws(layer):
    return sample_weights(layer, [DRAWS], seed=1)


def test_elements_of_the_kernel_vary_as_products_of_normals(layer, draws):
    """Var(w a g) = w^2 ((1 + s^2)^2 - 1), with the variance s^2 of both factors."""
    alpha, gamma = (draws[f"layer/{name}"].numpy()[:, 0] for name in ("alpha", "gamma"))
    kernel = layer.kernel.numpy()
    kernels = kernel * alpha[:, :, None] * gamma[:, None, :]
    stddev = np.abs(kernel) * np.sqrt((1 + SCALE**2 / 2) ** 2 - 1)
    error = 5 / np.sqrt(DRAWS)
    assert np.all(np.abs(kernels.mean(0) - kernel) < error * stddev)
    np.testing.assert_allclose(kernels.std(0), stddev, rtol=error)


def test_a_held_draw_is_that_kernel(layer, draws):
    inputs = tf.random.stateless_normal([DRAWS, 3, INPUTS], [0, 1])
    with hold(layer, draws):
        outputs = layer(inputs)
    alpha, gamma = (draws[f"layer/{name}"][-1, 0] for name in ("alpha", "gamma"))
    kernel = layer.kernel * alpha[:, None] * gamma
    np.testing.assert_allclose(outputs[-1], inputs[-1] @ kernel, rtol=1e-4, atol=1e-5)


def test_central_is_the_kernel_at_first(source, layer):
    inputs = tf.random.stateless_normal([3, INPUTS], [0, 1])
    with hold(layer, source.central(layer)):
        outputs = layer(inputs)
    np.testing.assert_allclose(outputs, inputs @ layer.kernel, rtol=1e-5)


def test_the_kl_is_that_of_both_vectors_to_normals_about_one(source, layer):
    ratio = SCALE**2 / 2 / PRIOR**2
    each = 0.5 * (ratio - 1 - np.log(ratio))
    costs = source.costs(layer)
    for name, size in (("alpha", INPUTS), ("gamma", UNITS)):
        assert float(costs[f"layer/{name}"]) == pytest.approx(size * each, rel=1e-5)
