import numpy as np
import pytest
import tensorflow as tf
import tensorflow_probability as tfp
from tensorflow_probability import distributions as tfd

import bayes_rl as ed

UNITS = 3
GENERATOR = np.random.default_rng(0)
DATA = GENERATOR.normal(size=[6, 2])
TARGETS = GENERATOR.normal(size=[6, UNITS])
POINTS = tf.constant(GENERATOR.normal(size=[5, 2]))
VALUES = GENERATOR.normal(size=[5, UNITS])
KERNEL = tfp.math.psd_kernels.ExponentiatedQuadratic(
    np.sqrt(np.float64(2.0)), np.float64(0.7)
)


def covariance_fn():
    return ed.layers.ExponentiatedQuadratic(variance=2.0, lengthscale=0.7)


def slope(inputs):
    return inputs[..., 0]


def posterior(**kwargs):
    return ed.layers.GaussianProcess(
        UNITS,
        mean_fn=slope,
        covariance_fn=covariance_fn(),
        conditional_inputs=DATA,
        conditional_outputs=TARGETS,
        dtype="float64",
        **kwargs,
    )


def assert_equals_columns(outputs, columns):
    np.testing.assert_allclose(outputs.mean(), columns.mean().numpy().T, rtol=1e-4)
    variance = tf.broadcast_to(columns.variance(), [UNITS, len(POINTS)]).numpy()
    np.testing.assert_allclose(outputs.variance(), variance.T, rtol=1e-4)
    np.testing.assert_allclose(outputs.stddev(), np.sqrt(variance.T), rtol=1e-4)
    covariance = np.broadcast_to(columns.covariance(), [UNITS, len(POINTS), len(POINTS)])
    np.testing.assert_allclose(outputs.covariance(), covariance, rtol=1e-4, atol=1e-9)
    expected = tf.reduce_sum(columns.log_prob(VALUES.T))
    np.testing.assert_allclose(outputs.log_prob(VALUES), expected, rtol=1e-4)


def test_prior_is_that_of_tfp():
    layer = ed.layers.GaussianProcess(
        UNITS, mean_fn=slope, covariance_fn=covariance_fn(), dtype="float64"
    )
    columns = tfd.GaussianProcess(KERNEL, POINTS, slope, jitter=1e-8)
    outputs = layer(POINTS)
    np.testing.assert_allclose(outputs.mean(), np.stack([POINTS[:, 0]] * UNITS, -1))
    np.testing.assert_allclose(
        outputs.covariance(), np.stack([columns.covariance()] * UNITS), rtol=1e-4, atol=1e-7
    )
    np.testing.assert_allclose(
        outputs.log_prob(VALUES), tf.reduce_sum(columns.log_prob(VALUES.T)), rtol=1e-4
    )


@pytest.mark.parametrize("noise_variance", [0.0, 0.1])
def test_posterior_is_that_of_tfp(noise_variance):
    columns = tfd.GaussianProcessRegressionModel(
        KERNEL,
        index_points=POINTS,
        observation_index_points=DATA,
        observations=TARGETS.T,
        observation_noise_variance=np.float64(noise_variance),
        predictive_noise_variance=np.float64(0.0),
        mean_fn=slope,
        jitter=1e-8,
    )
    assert_equals_columns(posterior(noise_variance=noise_variance)(POINTS), columns)


def test_kl_of_posterior_to_prior_is_that_of_tfp():
    prior = ed.layers.GaussianProcess(
        UNITS, mean_fn=slope, covariance_fn=covariance_fn(), dtype="float64"
    )(POINTS)
    outputs = posterior()(POINTS)
    expected = tfd.kl_divergence(
        tfd.MultivariateNormalFullCovariance(
            tf.transpose(outputs.mean()), outputs.covariance()
        ),
        tfd.MultivariateNormalFullCovariance(
            tf.transpose(prior.mean()), prior.covariance()
        ),
    )
    np.testing.assert_allclose(
        outputs.distribution.kl_divergence(prior.distribution),
        tf.reduce_sum(expected),
        rtol=1e-4,
    )


def test_posterior_passes_through_the_data():
    outputs = posterior()(tf.constant(DATA))
    np.testing.assert_allclose(outputs.mean(), TARGETS, atol=1e-5)
    assert np.all(outputs.stddev() < 1e-3)
    np.testing.assert_allclose(outputs, TARGETS, atol=2e-3)


@pytest.mark.parametrize("conditioned", [False, True])
def test_close_inputs_in_float32_are_finite_with_gradients(conditioned):
    inputs = tf.linspace(0.0, 1.0, 50)[:, None]
    layer = ed.layers.GaussianProcess(
        1,
        covariance_fn=ed.layers.ExponentiatedQuadratic(1.0, 1.0, trainable_parameters=True),
        conditional_inputs=inputs if conditioned else None,
        conditional_outputs=tf.sin(3 * inputs) if conditioned else None,
    )
    with tf.GradientTape() as tape:
        outputs = layer(inputs + 0.01)
        loss = tf.reduce_sum(outputs) - tf.cast(outputs.log_prob(outputs.value), tf.float32)
    assert {
        x.dtype for x in (outputs, outputs.mean(), outputs.log_prob(outputs.value))
    } == {tf.float32}
    assert np.isfinite(loss)
    assert np.all(np.isfinite(tape.gradient(loss, layer.trainable_weights)))
    if conditioned:
        np.testing.assert_allclose(outputs.mean(), tf.sin(3 * inputs + 0.03), atol=1e-3)


def test_kernels_of_tfp_in_float32_are_finite():
    kernel = tfp.math.psd_kernels.ExponentiatedQuadratic(tf.Variable(1.0), 1.0)
    layer = ed.layers.GaussianProcess(1, covariance_fn=kernel)
    outputs = layer(tf.linspace(0.0, 1.0, 50)[:, None])
    assert np.all(np.isfinite(outputs))
    assert layer.trainable_weights[0] is kernel.variables[0]


def test_variables_of_kernel_data_and_noise_are_trained():
    noise = tfp.util.TransformedVariable(0.1, tfp.bijectors.Softplus(), name="noise")
    layer = ed.layers.GaussianProcess(
        1,
        covariance_fn=ed.layers.ExponentiatedQuadratic(1.0, 0.5, trainable_parameters=True),
        conditional_inputs=tf.Variable([[0.0], [1.0]]),
        conditional_outputs=tf.Variable([[0.0], [1.0]]),
        noise_variance=noise,
    )
    assert len(layer.trainable_weights) == 5
    with tf.GradientTape() as tape:
        loss = -layer(tf.constant([[0.3]])).log_prob([[0.5]])
    gradients = tape.gradient(loss, layer.trainable_weights)
    assert all(np.all(gradient != 0) for gradient in gradients)
    copy = ed.layers.GaussianProcess.from_config(layer.get_config())
    assert len(copy.trainable_weights) == 5
    np.testing.assert_allclose(-copy(tf.constant([[0.3]])).log_prob([[0.5]]), loss, 1e-5)


def test_outputs_can_be_traced():
    layer = ed.layers.GaussianProcess(1, name="rate")
    inputs = tf.constant([[0.0], [1.0]])
    with ed.tape() as tape:
        outputs = layer(inputs)
    assert tape["rate"] is outputs
    with ed.condition(rate=[[1.0], [2.0]]):
        np.testing.assert_array_equal(layer(inputs), [[1.0], [2.0]])


def test_leading_axes_are_separate_draws():
    layer = ed.layers.GaussianProcess(2)
    inputs = tf.random.stateless_normal([4, 5, 3], [0, 1])
    outputs = layer(inputs)
    assert outputs.shape == [4, 5, 2]
    assert outputs.covariance().shape == [4, 2, 5, 5]
    np.testing.assert_allclose(
        outputs.covariance()[1], layer(inputs[1]).covariance(), rtol=1e-6
    )


def test_errors():
    with pytest.raises(ValueError, match="units must be at least 1, got 0"):
        ed.layers.GaussianProcess(0)
    with pytest.raises(ValueError, match="noise_variance must not be negative, got -0.5"):
        ed.layers.GaussianProcess(1, noise_variance=-0.5)
    with pytest.raises(ValueError, match="give both conditional_inputs and"):
        ed.layers.GaussianProcess(1, conditional_inputs=[[1.0]])
    with pytest.raises(ValueError, match=r"must have shape \(1, 2\), .* got \(1, 1\)"):
        ed.layers.GaussianProcess(
            2, conditional_inputs=[[1.0]], conditional_outputs=[[1.0]]
        )
    with pytest.raises(ValueError, match=r"rank 2 at least, got shape \(3,\)"):
        ed.layers.GaussianProcess(1)(tf.ones([3]))


@pytest.mark.parametrize("kind", [np.float32, np.float64, tf.constant, int, np.array])
def test_negative_noise_of_any_type_is_an_error(kind):
    with pytest.raises(ValueError, match="noise_variance must not be negative, got .*-1"):
        ed.layers.GaussianProcess(1, noise_variance=kind(-1))
    layer = ed.layers.GaussianProcess(1, noise_variance=kind(1))
    np.testing.assert_allclose(layer(POINTS).variance(), np.full([5, 1], 2.0), rtol=1e-6)


def test_data_without_features_or_with_others_are_errors():
    with pytest.raises(ValueError, match=r"inputs must have rank 2, .* got \(6,\)"):
        ed.layers.GaussianProcess(
            1, conditional_inputs=DATA[:, 0], conditional_outputs=TARGETS[:, :1]
        )
    layer = posterior()
    with pytest.raises(ValueError, match=r"features \(2,\) of .* got inputs .*\(5, 3\)"):
        layer(tf.zeros([5, 3]))
    with pytest.raises(ValueError, match=r"features \(2,\) of .* got inputs .*\(5, 1\)"):
        layer(POINTS[:, :1])


def test_log_marginal_likelihood_of_noisy_outputs_and_its_slopes_are_those_of_sklearn():
    kernels = pytest.importorskip("sklearn.gaussian_process.kernels")
    from sklearn import gaussian_process

    inputs = GENERATOR.normal(size=[20, 2])
    targets = np.sin(inputs[:, 0]) + GENERATOR.normal(size=20) * 0.1
    log_parameters = tf.constant(np.log([2.0, 0.7, 0.04]))  # variance, lengthscale, noise
    kernel = kernels.ConstantKernel(2.0) * kernels.RBF(0.7) + kernels.WhiteKernel(0.04)
    model = gaussian_process.GaussianProcessRegressor(kernel, optimizer=None, alpha=0.0)
    expected, slopes = model.fit(inputs, targets).log_marginal_likelihood(
        np.log([2.0, 0.7, 0.04]), eval_gradient=True
    )
    variables = [
        tfp.util.TransformedVariable(np.exp(x), tfp.bijectors.Exp(), dtype=tf.float64)
        for x in log_parameters
    ]
    layer = ed.layers.GaussianProcess(
        1,
        covariance_fn=ed.layers.ExponentiatedQuadratic(*variables[:2]),
        noise_variance=variables[2],
        dtype="float64",
    )
    with tf.GradientTape() as tape:
        found = layer(tf.constant(inputs)).log_prob(targets[:, np.newaxis])
    gradients = tape.gradient(found, [v.trainable_variables[0] for v in variables])
    np.testing.assert_allclose(tf.reduce_sum(found), expected, rtol=1e-6)
    np.testing.assert_allclose(gradients, slopes, rtol=1e-5)


def test_learning_recovers_lengthscale_and_noise():
    inputs = np.linspace(0.0, 20.0, 120)[:, np.newaxis]
    truth = tfd.GaussianProcess(
        tfp.math.psd_kernels.ExponentiatedQuadratic(np.float64(1.0), np.float64(0.8)),
        inputs,
        observation_noise_variance=np.float64(0.01),
    )
    targets = truth.sample(seed=[1, 2])[:, tf.newaxis]
    lengthscale, noise = (
        tfp.util.TransformedVariable(1.5, tfp.bijectors.Exp(), dtype=tf.float64)
        for _ in range(2)
    )
    layer = ed.layers.GaussianProcess(
        1,
        covariance_fn=ed.layers.ExponentiatedQuadratic(1.0, lengthscale),
        noise_variance=noise,
        dtype="float64",
    )
    optimizer = tf.keras.optimizers.Adam(0.1)

    @tf.function(autograph=False)
    def step():
        with tf.GradientTape() as tape:
            loss = -tf.reduce_sum(layer(inputs).log_prob(targets))
        variables = layer.trainable_variables
        optimizer.apply_gradients(
            zip(tape.gradient(loss, variables), variables, strict=True)
        )

    for _ in range(150):
        step()
    assert abs(float(tf.convert_to_tensor(lengthscale)) - 0.8) < 0.15
    assert abs(float(tf.convert_to_tensor(noise)) - 0.01) < 0.005


def test_noise_is_in_the_variance_of_outputs_without_data():
    layer = ed.layers.GaussianProcess(1, noise_variance=0.25)
    np.testing.assert_allclose(layer(POINTS).variance(), np.full([5, 1], 1.25), rtol=1e-6)


@pytest.mark.parametrize("given", [{}, {"noise_variance": 0.1}])
def test_where_the_variance_is_zero_draws_are_the_mean(given):
    if given:
        given |= {"conditional_inputs": DATA, "conditional_outputs": TARGETS[:, :1]}
    layer = ed.layers.GaussianProcess(
        1, covariance_fn=ed.layers.LinearKernel(1.0, 0.0), mean_fn=slope, **given
    )
    outputs = layer(tf.zeros([1, 2]))
    for result in (outputs.value, outputs.mean(), outputs.stddev()):
        assert result.numpy().tolist() == [[0.0]]
    assert np.isfinite(outputs.log_prob(outputs.mean()))
    assert float(outputs.log_prob(tf.ones([1, 1]))) == -np.inf
