import numpy as np
import pytest
import tensorflow as tf

import bayes_rl as ed

keras = tf.keras.layers
RATE, EPOCHS, RANK = 0.05, 6, 4


def quadratic():
    """Mean squared error of one weight per feature: gradient descent has a closed form."""
    model = tf.keras.Sequential([keras.Dense(1, use_bias=False, input_shape=[2])])
    model.compile("sgd", "mse")
    inputs = np.array([[1.0, 0.0], [0.0, 2.0]], np.float32)
    model.set_weights([np.array([[3.0], [-1.0]])])
    return model, (inputs, inputs @ np.array([[1.0], [0.5]], np.float32))


def path():
    """[EPOCHS, 2] weights after each full-batch step: w* + (1 - rate h)^t (w0 - w*)."""
    curvature, best = np.array([1.0, 4.0]), np.array([1.0, 0.5])
    times = np.arange(1, EPOCHS + 1)[:, None]
    return best + (1.0 - RATE * curvature) ** times * (np.array([3.0, -1.0]) - best)


def fitted(**options):
    model, data = quadratic()
    given = {"learning_rate": RATE, "epochs": EPOCHS, "rank": RANK, "momentum": 0.0}
    return ed.inference.swag(model, data, **given | options)


def test_moments_are_those_of_the_path_of_gradient_descent():
    posterior, weights = fitted(), path()
    (name,) = posterior.mean
    np.testing.assert_allclose(posterior.mean[name][:, 0], weights.mean(axis=0), rtol=1e-5)
    variance = posterior.variances[name][0, :, 0]
    np.testing.assert_allclose(variance, weights.var(axis=0), rtol=1e-4)
    running = np.cumsum(weights, axis=0) / np.arange(1, EPOCHS + 1)[:, None]
    expected = (weights - running)[-RANK:]
    np.testing.assert_allclose(posterior.deviations[name][0, ..., 0], expected, rtol=1e-4)


def covariance(posterior):
    (name,) = posterior.mean
    factors = posterior.deviations[name][0, ..., 0]
    diagonal = np.diag(posterior.variances[name][0, :, 0])
    return (diagonal + factors.T @ factors / (RANK - 1)) / 2.0


def test_draws_have_the_covariance_of_the_formula():
    posterior = fitted()
    draws = next(iter(posterior.sample([20_000], seed=1).values()))[..., 0]
    expected = covariance(posterior)
    error = 5.0 * np.sqrt(2.0 / 20_000) * np.max(np.diag(expected))
    np.testing.assert_allclose(np.cov(draws.numpy().T), expected, atol=error)


def test_density_is_that_of_a_normal():
    from scipy import stats

    posterior = fitted()
    draws = posterior.sample([3], seed=1)
    (name,) = draws
    normal = stats.multivariate_normal(posterior.mean[name][:, 0], covariance(posterior))
    expected = normal.logpdf(draws[name].numpy()[..., 0])
    np.testing.assert_allclose(posterior.log_prob(draws), expected, rtol=1e-4)
    one = posterior.sample(seed=2)
    expected = normal.logpdf(one[name].numpy()[..., 0])
    assert posterior.log_prob(one) == pytest.approx(expected, rel=1e-4)


def test_the_model_stays_as_it_is():
    model, data = quadratic()
    optimizer, before = model.optimizer, model.get_weights()
    ed.inference.swag(model, data, epochs=2, rank=2)
    np.testing.assert_array_equal(model.get_weights()[0], before[0])
    assert model.optimizer is optimizer
    assert optimizer.iterations == 0


def test_several_starts_have_a_gaussian_each():
    model, data = quadratic()
    name = f"{model.layers[0].name}/kernel"
    starts = {name: np.array([[[3.0], [-1.0]], [[100.0], [100.0]]], np.float32)}
    posterior = ed.inference.swag(model, data, 1e-4, EPOCHS, RANK, starts, 0.0)
    draws = posterior.sample([4], seed=1)[name].numpy()
    far = draws[:, 0, 0] > 50.0
    assert sorted(far.tolist()) == [False, False, True, True]


def test_statistics_of_batch_normalization_are_made_anew():
    model = tf.keras.Sequential(
        [keras.Dense(2, use_bias=False, input_shape=[2]), keras.BatchNormalization()]
    )
    model.compile("sgd", "mse")
    inputs = tf.random.stateless_normal([64, 2], [0, 1]).numpy()
    posterior = ed.inference.swag(
        model, (inputs, inputs[:, ::-1]), 0.1, 4, 3, batch_size=64
    )
    kept = model.get_weights()
    draws = posterior.sample([2], seed=1)
    kernel, _, _, mean, variance = (draws[name].numpy() for name in _names(model))
    np.testing.assert_allclose(mean, (inputs @ kernel).mean(axis=1), atol=1e-5)
    np.testing.assert_allclose(variance, (inputs @ kernel).var(axis=1), rtol=1e-4)
    assert not np.allclose(variance[0], variance[1])
    for one, other in zip(model.get_weights(), kept, strict=True):
        np.testing.assert_array_equal(one, other)
    assert model.layers[1].momentum == 0.99


def _names(model):
    from bayes_rl.weights import named_variables

    return named_variables(model)


def test_batch_normalization_needs_data_after_loading(tmp_path):
    model = tf.keras.Sequential(
        [keras.Dense(2, input_shape=[2]), keras.BatchNormalization()]
    )
    model.compile("sgd", "mse")
    data = np.eye(2, dtype=np.float32), np.eye(2, dtype=np.float32)
    posterior = ed.inference.swag(model, data, epochs=2, rank=2)
    posterior.save(tmp_path / "swag.npz")
    again = ed.inference.load(tmp_path / "swag.npz", model)
    with pytest.raises(ValueError, match="needs statistics of batch normalization"):
        again.sample(seed=1)
    again = ed.inference.load(tmp_path / "swag.npz", model, data)
    for one, other in zip(
        *(x.sample(seed=1).values() for x in (posterior, again)), strict=True
    ):
        np.testing.assert_allclose(one, other, rtol=1e-5)


def test_a_model_without_a_loss_and_small_numbers_are_errors():
    model, data = quadratic()
    with pytest.raises(ValueError, match="epochs must be at least 2, got 1"):
        ed.inference.swag(model, data, epochs=1)
    with pytest.raises(ValueError, match="rank must be at least 2, got 1"):
        ed.inference.swag(model, data, rank=1)
    with pytest.raises(ValueError, match="choose a smaller one"):
        ed.inference.swag(model, data, learning_rate=1e9)
    plain = tf.keras.Sequential([keras.Dense(1, input_shape=[2])])
    with pytest.raises(ValueError, match="call model.compile"):
        ed.inference.swag(plain, data)
