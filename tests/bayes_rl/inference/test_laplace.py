import numpy as np
import pytest
import tensorflow as tf
from scipy import special, stats

import bayes_rl as ed

keras = tf.keras.layers
COUNT, DELTA, STDDEV = 40, 2.0, 0.5


def regression():
    """A linear model at its exact posterior mean, data, and features with a one."""
    inputs = tf.random.stateless_normal([COUNT, 3], [0, 1]).numpy()
    noise = STDDEV * tf.random.stateless_normal([COUNT, 2], [0, 2]).numpy()
    targets = inputs @ np.array([[1.0, 0.0], [2.0, -1.0], [0.5, 3.0]]) + noise
    features = np.concatenate([inputs, np.ones([COUNT, 1])], axis=1)
    precision = features.T @ features / STDDEV**2 + DELTA * np.eye(4)
    weights = np.linalg.solve(precision, features.T @ targets / STDDEV**2)
    model = tf.keras.Sequential([keras.Dense(2, input_shape=[3])])
    model.set_weights([weights[:3], weights[3]])
    return model, (inputs, targets.astype(np.float32)), features, np.linalg.inv(precision)


def matrix(draws):
    """[S, 4, 2] of kernel and bias."""
    kernel, bias = (np.asarray(x) for x in draws.values())
    return np.concatenate([kernel, bias[:, None]], axis=1)


@pytest.mark.parametrize("subset", ["last_layer", "all"])
@pytest.mark.parametrize("structure", ["full", "kronecker"])
def test_it_is_the_exact_posterior_of_linear_regression(subset, structure):
    model, data, features, covariance = regression()
    posterior = ed.inference.laplace(
        model, data, "normal", subset, structure, DELTA, STDDEV, batch_size=16
    )
    draws = matrix(posterior.sample([20_000], seed=1))
    for output in range(2):
        found = np.cov(draws[:, :, output].T)
        error = 5.0 * np.sqrt(2.0 / 20_000) * np.max(np.diag(covariance))
        np.testing.assert_allclose(found, covariance, atol=error)
    whole = STDDEV**2 * np.eye(COUNT) + features @ features.T / DELTA
    exact = sum(stats.multivariate_normal(cov=whole).logpdf(y) for y in data[1].T)
    assert posterior.log_marginal_likelihood == pytest.approx(exact, rel=1e-5)


def test_densities_are_those_of_normals():
    model, data, _, covariance = regression()
    posterior = ed.inference.laplace(model, data, "normal", "all", "full", DELTA, STDDEV)
    draws = posterior.sample([3], seed=1)
    mean, values = matrix({k: x[None] for k, x in posterior.mean.items()})[0], matrix(draws)
    normals = [stats.multivariate_normal(mean[:, i], covariance) for i in range(2)]
    expected = sum(normals[i].logpdf(values[:, :, i]) for i in range(2))
    np.testing.assert_allclose(posterior.log_prob(draws), expected, rtol=1e-4)
    one = {name: x[0] for name, x in draws.items()}
    assert posterior.log_prob(one) == pytest.approx(expected[0], rel=1e-4)
    log_det = np.linalg.slogdet(covariance)[1]
    kl = DELTA * (2.0 * np.trace(covariance) + np.sum(mean**2)) - 8.0
    kl -= 2.0 * (log_det + 4.0 * np.log(DELTA))
    assert posterior.kl_divergence() == pytest.approx(0.5 * kl, rel=1e-4)


def test_what_is_not_given_has_the_highest_marginal_likelihood():
    model, data, _, _ = regression()
    best = ed.inference.laplace(model, data, "normal")
    for delta, stddev in ((1.05, 1.0), (0.95, 1.0), (1.0, 1.05), (1.0, 0.95)):
        other = ed.inference.laplace(
            model,
            data,
            "normal",
            prior_precision=delta * best.prior_precision,
            noise_stddev=stddev * best.noise_stddev,
        )
        assert other.log_marginal_likelihood < best.log_marginal_likelihood


def classifier(likelihood="categorical"):
    classes = 3 if likelihood == "categorical" else 1
    model = tf.keras.Sequential(
        [keras.Dense(4, activation="tanh", input_shape=[2]), keras.Dense(classes)]
    )
    for variable in model.weights:
        shape = variable.shape
        variable.assign(tf.random.stateless_normal(shape, [1, shape.num_elements()]))
    inputs = tf.random.stateless_normal([20, 2], [0, 1]).numpy()
    return model, inputs, np.arange(20) % (3 if classes == 3 else 2)


def gauss_newton(model, inputs, likelihood):
    """[P, P] by derivatives of Keras' own model."""
    with tf.GradientTape() as tape:
        logits = model(inputs)
    jacobians = tape.jacobian(logits, model.trainable_variables)
    flat = np.concatenate([np.reshape(x, [*logits.shape, -1]) for x in jacobians], axis=-1)
    if likelihood == "categorical":
        p = special.softmax(logits, axis=-1)
        hessians = np.stack([np.diag(x) - np.outer(x, x) for x in p])
    else:
        p = special.expit(logits)
        hessians = (p * (1.0 - p))[..., None]
    return np.einsum("ncp,ncd,ndq->pq", flat, hessians, flat)


@pytest.mark.parametrize("likelihood", ["categorical", "bernoulli"])
@pytest.mark.parametrize("structure", ["full", "diagonal"])
def test_curvature_is_that_of_all_derivatives(likelihood, structure):
    model, inputs, labels = classifier(likelihood)
    expected = gauss_newton(model, inputs, likelihood) + np.eye(model.count_params())
    if structure == "diagonal":
        expected = np.diag(np.diag(expected))
    posterior = ed.inference.laplace(
        model, (inputs, labels), likelihood, "all", structure, 1.0, batch_size=8
    )
    draws = posterior.sample([30_000], seed=2)
    flat = np.concatenate([np.reshape(x, [30_000, -1]) for x in draws.values()], axis=1)
    found, covariance = np.cov(flat.T), np.linalg.inv(expected)
    stddev = np.sqrt(np.diag(covariance))
    error = 5.0 / np.sqrt(15_000) * np.outer(stddev, stddev)
    assert np.all(abs(found - covariance) < error)


@pytest.mark.parametrize("structure", ["full", "kronecker", "diagonal"])
def test_last_layers_have_the_curvature_of_their_part(structure):
    model, inputs, labels = classifier()
    whole, last = (
        ed.inference.laplace(model, (inputs, labels), "categorical", subset, structure, 1.0)
        for subset in ("all", "last_layer")
    )
    names = list(last.mean)
    assert names == list(whole.mean)[2:]
    if structure == "full":
        return
    one, other = (
        np.concatenate(
            [np.std(x.sample([20_000], seed=1)[name], axis=0).ravel() for name in names]
        )
        for x in (whole, last)
    )
    np.testing.assert_allclose(one, other, rtol=0.05)


def test_kronecker_factors_of_a_convolution_are_exact_for_one_position():
    """A kernel as large as the image is a Dense layer of its pixels."""
    images = tf.random.stateless_normal([12, 2, 2, 3], [0, 1]).numpy()
    labels = np.arange(12) % 2
    convolution = tf.keras.Sequential(
        [keras.Conv2D(2, 2, input_shape=[2, 2, 3]), keras.Flatten()]
    )
    dense = tf.keras.Sequential([keras.Flatten(input_shape=[2, 2, 3]), keras.Dense(2)])
    dense.set_weights([x.reshape(y.shape) for x, y in _pairs(convolution, dense)])
    values = [
        ed.inference.laplace(
            model, (images, labels), "categorical", "all", "kronecker", 1.0
        ).log_marginal_likelihood
        for model in (convolution, dense)
    ]
    assert values[0] == pytest.approx(values[1], rel=1e-5)


def _pairs(one, other):
    return zip(one.get_weights(), other.get_weights(), strict=True)


def test_predictions_are_those_of_the_linearized_model():
    model, inputs, labels = classifier()
    posterior = ed.inference.laplace(
        model, (inputs, labels), "categorical", "all", "diagonal"
    )
    found = posterior.predict(inputs, 2, seed=3, batch_size=8)
    draws = posterior.sample([2], seed=3)
    with tf.GradientTape() as tape:
        logits = model(inputs)
    jacobians = tape.jacobian(logits, model.trainable_variables)
    for s in range(2):
        expected = logits.numpy()
        for (name, draw), jacobian in zip(draws.items(), jacobians, strict=True):
            change = draw[s] - posterior.mean[name]
            axes = tf.range(2, tf.rank(jacobian))
            expected = expected + tf.reduce_sum(jacobian * change, axes).numpy()
        np.testing.assert_allclose(found[s], expected, rtol=1e-4, atol=1e-4)


def test_predictions_go_into_scores():
    model, inputs, labels = classifier()
    posterior = ed.inference.laplace(model, (inputs, labels), "categorical")
    logits = posterior.predict(inputs, 10, seed=1)
    prediction = ed.Categorical(logits=logits)
    assert ed.uncertainty.log_score(prediction, labels).shape == [20]
    np.testing.assert_allclose(logits, posterior.predict(inputs, 10, seed=1))


def test_the_model_stays_as_it_is():
    model, inputs, labels = classifier()
    before, outputs = model.get_weights(), model(inputs)
    ed.inference.laplace(model, (inputs, labels), "categorical", "all", "kronecker")
    np.testing.assert_array_equal(model(inputs), outputs)
    for one, other in zip(model.get_weights(), before, strict=True):
        np.testing.assert_array_equal(one, other)
    assert "call" not in vars(model.layers[0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"likelihood": "poisson"}, "likelihood must be one of 'categorical', 'bernoulli'"),
        ({"subset": "first"}, "subset must be one of 'last_layer', 'all', got 'first'"),
        ({"structure": "dense"}, "structure must be one of .*, got 'dense'"),
        ({"prior_precision": 0.0}, "prior_precision must be above 0, got 0.0"),
        (
            {"noise_stddev": 1.0},
            "noise_stddev is of likelihood='normal', got 'categorical'",
        ),
        ({"data": np.ones([3, 2])}, "data must be a pair .*, got ndarray"),
    ],
)
def test_other_arguments_are_errors(options, message):
    model, inputs, labels = classifier()
    given = {"data": (inputs, labels), "likelihood": "categorical"} | options
    with pytest.raises(ValueError, match=message):
        ed.inference.laplace(model, **given)


def test_probabilities_instead_of_logits_are_an_error():
    model, inputs, labels = classifier()
    model = tf.keras.Sequential([model, keras.Softmax()])
    model(inputs)
    for subset, message in (("all", "must be logits"), ("last_layer", "must be logits")):
        with pytest.raises(ValueError, match=message):
            ed.inference.laplace(model, (inputs, labels), "categorical", subset)


def test_bayesian_layers_are_refused():
    model = tf.keras.Sequential([ed.layers.DenseFlipout(2, input_shape=[2])])
    with pytest.raises(ValueError, match="laplace takes models without stochastic weights"):
        ed.inference.laplace(model, (np.ones([3, 2]), np.ones([3])), "categorical")


@pytest.mark.parametrize(
    "layer", [lambda: keras.Dense(1, "tanh", name="last"), lambda: keras.LSTM(1)]
)
def test_a_last_layer_with_an_activation_or_of_another_kind_is_an_error(layer):
    inputs, labels = np.ones([3, 4, 2], np.float32), np.zeros([3, 4])
    model = tf.keras.Sequential([layer()])
    model(inputs)
    with pytest.raises(ValueError, match="subset='last_layer' needs a model whose outputs"):
        ed.inference.laplace(model, (inputs, labels), "bernoulli")
