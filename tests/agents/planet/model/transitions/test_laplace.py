"""Tests of the last layers in closed form, against Bayesian linear regression."""

import types

import numpy as np
import pytest
import tensorflow as tf
from tensorflow_probability import distributions as tfd

import bayes_rl as ed
from agents.planet.model.rssm import Latent
from agents.planet.model.transitions import laplace, make_source
from bayes_rl.weights import hold, posteriors

INPUTS, LATENT, ROWS, PRIOR = 4, 2, 30, 0.7
SEED = tf.constant([0, 1])
LAST = {"transition_latent/kernel", "transition_latent/bias"}
HEAD = {"reward_last/kernel", "reward_last/bias"}


def regression(inputs, stddev, targets):
    """Mean and covariance of the weights of inputs and 1, by the formula."""
    inputs = np.hstack([inputs, np.ones([len(inputs), 1])])
    precision = inputs.T @ (inputs / stddev[:, None] ** 2) + np.eye(INPUTS + 1) / PRIOR**2
    covariance = np.linalg.inv(precision)
    return covariance @ inputs.T @ (targets / stddev**2), covariance


@pytest.fixture(scope="module")
def data():
    random = np.random.default_rng(0)
    shapes = (ROWS, INPUTS), (ROWS, LATENT), (ROWS, LATENT)
    inputs, targets, noise = (random.normal(size=shape) for shape in shapes)
    return inputs, targets, 0.1 + np.exp(noise)


@pytest.fixture
def layer():
    source = make_source("laplace", types.SimpleNamespace(prior_scale=PRIOR))
    layer = source.dense(2 * LATENT, None, "transition_latent")
    layer.build([None, INPUTS])
    return layer


def centre(layer, weights):
    """Trains the layer, so to speak: its means are these, [inputs + 1, units]."""
    for key, value in (("kernel", weights[:-1]), ("bias", weights[-1])):
        layer.stochastic_weights[key].initializer.assign(mean=value)


def test_draws_are_those_of_the_regression_of_each_output(layer, data):
    inputs, targets, stddev = data
    exact = [regression(inputs, stddev[:, d], targets[:, d]) for d in range(LATENT)]
    means = np.stack([mean for mean, _ in exact] + [np.ones(INPUTS + 1)] * LATENT, 1)
    centre(layer, means)
    layer.learn(laplace._gram(tf.constant(inputs), 1.0 / stddev**2))
    draws = 4000
    kernel, bias = layer.drawn(draws, SEED)
    weights = np.concatenate([kernel, bias[:, None]], 1)  # [S, inputs + 1, units]
    for d, (mean, covariance) in enumerate(exact):
        factor = layer.factor[d].numpy()
        np.testing.assert_allclose(factor @ factor.T, covariance, rtol=1e-4, atol=1e-6)
        spread = np.sqrt(np.diag(covariance))
        error = 5 / np.sqrt(draws)
        assert np.all(np.abs(weights[:, :, d].mean(0) - mean) < error * spread)
        found = np.cov(weights[:, :, d].T) / np.outer(spread, spread)
        np.testing.assert_allclose(found, covariance / np.outer(spread, spread), atol=error)
        for key, value in (("kernel", spread[:-1]), ("bias", spread[-1])):
            stddevs = layer.stochastic_weights[key].posterior().stddev()
            np.testing.assert_allclose(stddevs[..., d], value, rtol=1e-4)
    assert np.ptp(weights[:, :, LATENT:], axis=0).max() == 0, "stddevs are certain"


def test_predictions_are_those_of_the_linear_model_of_our_layers(layer, data):
    inputs, targets, _ = data
    layer.prior_stddev, noise = 1.0, 0.5
    with_one = np.hstack([inputs, np.ones([ROWS, 1])])
    model = ed.layers.BayesianLinearModel(noise_variance=noise**2)
    model.fit(with_one, targets[:, 0])
    layer.learn(laplace._gram(tf.constant(inputs), tf.fill([ROWS, LATENT], 1.0 / noise**2)))
    expected = model(with_one)
    centre(layer, np.repeat(model.coefficients_mean[:, None], 2 * LATENT, 1))
    np.testing.assert_allclose(layer(inputs)[:, 0], expected.mean(), rtol=1e-4, atol=1e-5)
    variance = np.sum((with_one @ layer.factor[0].numpy()) ** 2, 1)
    np.testing.assert_allclose(variance, expected.variance(), rtol=1e-4)


def test_before_any_data_draws_are_those_of_the_prior(layer):
    np.testing.assert_allclose(layer.factor[0], PRIOR * np.eye(INPUTS + 1), atol=1e-6)


def test_divergence_is_that_of_the_regressions(layer, data):
    inputs, targets, stddev = data
    exact = [regression(inputs, stddev[:, d], targets[:, d]) for d in range(LATENT)]
    others = [np.full(INPUTS + 1, 9.0)] * LATENT  # the stddevs are certain
    centre(layer, np.stack([mean for mean, _ in exact] + others, 1))
    prior = tfd.MultivariateNormalDiag(np.zeros(INPUTS + 1), np.full(INPUTS + 1, PRIOR))
    layer.learn(laplace._gram(tf.constant(inputs), 1.0 / stddev**2))
    expected = 0.0
    for mean, covariance in exact:
        posterior = tfd.MultivariateNormalTriL(mean, np.linalg.cholesky(covariance))
        expected += posterior.kl_divergence(prior)
    np.testing.assert_allclose(layer.divergence(), expected, rtol=1e-4)


def test_divergence_is_nothing_before_any_data(layer):
    centre(layer, np.zeros([INPUTS + 1, 2 * LATENT]))
    np.testing.assert_allclose(layer.divergence(), 0.0, atol=1e-4)


@pytest.fixture(scope="module")
def model(make_model):
    return make_model("transition=laplace", "prior_scale=0.7")


def batches(make_batch, count):
    found = [make_batch(4, 5, seed=seed) for seed in range(count)]
    return [{key: value.numpy() for key, value in batch.items()} for batch in found]


def test_last_layers_know_every_step_of_the_replay(model, make_batch, monkeypatch):
    """Each x of the prior counts 1 / stddev^2, each of the reward reward_scale."""
    seen, rssm = [], model.rssm
    observe = rssm.observe
    spied = lambda *given: seen.append(observe(*given)) or seen[-1]  # noqa: E731
    monkeypatch.setattr(rssm, "observe", spied)
    monkeypatch.setattr(laplace, "_grams", laplace._grams.python_function)
    model.source.renew(model, batches(make_batch, 2), rows=100, seed=SEED)
    assert len(seen) == 2
    precisions = {"latent": 0.0, "reward": 0.0}
    for posterior, prior in seen:
        x = rssm.prior_inputs(posterior.belief).numpy().reshape(20, -1)
        x = np.hstack([x, np.ones([20, 1])])
        weight = 1.0 / prior.stddev.numpy().reshape(20, -1)[:, 1] ** 2
        precisions["latent"] += x.T @ (x * weight[:, None])
        x = model.reward_inputs(posterior.features).numpy().reshape(20, -1)
        x = np.hstack([x, np.ones([20, 1])])
        precisions["reward"] += 100.0 * x.T @ x
    layers = rssm._prior_latent, model._reward.layers[-1]
    for layer, number, name in zip(layers, (1, 0), precisions, strict=True):
        precision = precisions[name] * 100 / 40
        precision += np.eye(len(precision)) / 0.7**2
        factor = layer.factor[number].numpy().astype(float)
        product = factor.T @ precision @ factor
        np.testing.assert_allclose(product, np.eye(len(precision)), atol=1e-3)


def test_last_layers_alone_are_uncertain(model):
    assert set(posteriors(model)) == LAST | HEAD
    assert model.source.costs(model) == {}
    assert set(model.source.divergences(model)) == LAST | HEAD


def test_draws_share_the_belief_and_differ_in_what_they_say_of_it(model, noise):
    alike = [tf.repeat(noise(1, 2, size), 3, axis=0) for size in (6, 3, 3, 3, 1)]
    with hold(model, model.draw_weights(3, SEED)):
        after = model.rssm.imagine_step(Latent(*alike[:4]), alike[4], 0.0)
        reward = model.reward(tf.repeat(noise(1, 2, 9), 3, axis=0))
    assert np.ptp(after.belief, axis=0).max() < 1e-6
    assert np.ptp(after.mean, axis=0).min() > 1e-4
    assert np.ptp(after.stddev, axis=0).max() < 1e-6
    assert reward.shape == [3, 2]
    assert np.ptp(reward, axis=0).min() > 1e-4


def test_a_gradient_step_is_that_of_the_deterministic_twin(build_agent, make_batch):
    batch, found = make_batch(4, 3), []
    for transition in ("laplace", "deterministic"):
        agent = build_agent(f"transition={transition}", "explore=noise")
        losses = [float(agent.train(batch).loss) for _ in range(3)]
        sizes = [v.shape.num_elements() for v in agent.model.trainable_variables]
        found.append((losses, sum(sizes)))
    assert found[0] == found[1]


def test_images_beside_the_vector_are_seen_too(make_model, make_batch):
    words = "transition=laplace", "world_model.image_depth=2"
    model = make_model(*words, beside={"image_eye": (32, 1)})
    batch = {key: tensor.numpy() for key, tensor in make_batch(4, 5).items()}
    batch["image_eye"] = np.zeros([4, 5, 32, 32, 1], np.uint8)
    model.source.renew(model, [batch], rows=20, seed=SEED)
    assert np.isfinite(next(iter(model.draw_weights(2, SEED).values()))).all()
