"""Tests of examples.methods.regression_methods."""

import math

import numpy as np
import pytest
import tensorflow as tf
import tensorflow_probability as tfp
from sklearn.gaussian_process import GaussianProcessRegressor, kernels

import bayes_rl as ed
from examples import regression
from examples.methods import regression_methods
from examples.methods.regression_methods import METHODS, SMALL, Sizes

tfd = tfp.distributions


def test_nats_are_the_expected_ones_of_a_random_function():
    moments = tf.constant([[0.5, 0.3, math.log(0.7)]])
    functions = 0.5 + math.sqrt(0.3) * np.random.default_rng(0).standard_normal(200_000)
    expected = -np.mean(tfd.Normal(functions, 0.7).log_prob(1.5))
    found = regression_methods.nats(tf.constant([[1.5]]), moments)
    np.testing.assert_allclose(found, [[expected]], rtol=0.01)


def test_moments_are_those_of_the_function_or_of_one_value():
    layer = regression_methods.Moments()
    function = ed.Normal(tf.constant([[1.0], [2.0]]), 3.0)
    np.testing.assert_allclose(layer(function)[:, :2], [[1, 9], [2, 9]])
    np.testing.assert_allclose(layer(tf.constant([[4.0]]))[:, :2], [[4, 0]])
    assert len(layer.trainable_weights) == 1


def test_outcomes_have_the_noise_and_the_spread_of_functions():
    moments = np.array([[[1.0, 0.25, math.log(0.5)]]])
    (means,), (stddevs,) = regression_methods.prediction(moments)
    np.testing.assert_allclose(means, [1.0])
    np.testing.assert_allclose(stddevs, [math.sqrt(0.5)])


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_methods_predict_a_mixture(method, request):
    if method != "nuts":  # whose loops take many steps
        request.getfixturevalue("in_eager_mode")
    inputs, targets = regression.make_curve(SMALL, 0)["train"]
    predict = METHODS[method](inputs, targets, SMALL, 0)
    means, stddevs = predict(inputs[:7])
    assert means.shape == stddevs.shape
    assert means.shape[1] == 7
    assert np.all(stddevs > 0)
    assert (means.shape[0] > 1) == (method in ("flipout", "nuts", "deep_gp"))


@pytest.mark.slow
def test_a_learned_gaussian_process_says_what_scikit_learn_does_in_and_beside_the_gap():
    inputs, targets = regression.make_curve(Sizes(), 0)["train"]
    grid = np.array([[0.0], [0.4], [1.0], [2.0]], np.float32)
    (means,), (stddevs,) = METHODS["gp"](inputs, targets, Sizes(), 0)(grid)
    kernel = kernels.ConstantKernel() * kernels.RBF() + kernels.WhiteKernel()
    oracle = GaussianProcessRegressor(kernel, random_state=0).fit(inputs, targets)
    expected, spread = oracle.predict(grid, return_std=True)
    np.testing.assert_allclose(stddevs, spread, rtol=0.01)
    np.testing.assert_allclose(means, expected, atol=2e-3)
