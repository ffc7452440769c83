import numpy as np
import pytest
import tensorflow as tf
import tensorflow_probability as tfp
from tensorflow_probability import distributions as tfd

import bayes_rl as ed
from bayes_rl.layers.reversible.base import ElementwiseAffine

NOISE = 0.5
INPUTS = tf.random.stateless_normal([12, 2], [0, 1])
TARGETS = tf.random.stateless_normal([12], [0, 2])


def standard_normal():
    return ed.initializers.TrainableNormalFixedStddev(1.0, "zeros")


@pytest.fixture(scope="module")
def network():
    tf.keras.utils.set_random_seed(0)
    hidden = tf.keras.layers.Dense(2, "tanh", bias_initializer="glorot_normal")
    output = ed.layers.DenseReparameterization(
        1,
        kernel_initializer=standard_normal(),
        bias_initializer=standard_normal(),
        kernel_regularizer=None,
        name="output",
    )
    model = tf.keras.Sequential([hidden, output])
    model.build([None, 2])
    return model


def regression(network):
    def model(inputs):
        return ed.Normal(network(inputs)[..., 0], NOISE, name="targets")

    return ed.make_log_joint_fn(model)


def test_log_joint_is_the_sum_of_log_densities():
    def model(count):
        scale = ed.Gamma(2.0, 3.0, name="scale")
        x = ed.Normal(0.0, scale, sample_shape=count, name="x")
        return ed.Poisson(tf.exp(x), name="counts")

    x, counts = tf.constant([0.5, -1.0]), tf.constant([1.0, 0.0])
    expected = tfd.Gamma(2.0, 3.0).log_prob(1.5)
    expected += tf.reduce_sum(tfd.Normal(0.0, 1.5).log_prob(x))
    expected += tf.reduce_sum(tfd.Poisson(tf.exp(x)).log_prob(counts))
    log_joint = ed.make_log_joint_fn(model)
    np.testing.assert_allclose(
        log_joint(2, scale=1.5, x=x, counts=counts), expected, rtol=1e-6
    )
    with ed.condition(counts=counts):
        np.testing.assert_allclose(log_joint(count=2, scale=1.5, x=x), expected, rtol=1e-6)


def test_errors_name_the_variable():
    def model():
        ed.Normal(0.0, 1.0, name="first")

    log_joint = ed.make_log_joint_fn(model)
    with pytest.raises(LookupError, match="needs a value of random variable 'first'"):
        log_joint()
    with pytest.raises(
        LookupError, match="no random variable 'frist'; did you mean 'first'"
    ):
        log_joint(first=1.0, frist=1.0)
    with pytest.raises(KeyError, match="made by Normal has no name"):
        ed.make_log_joint_fn(lambda: ed.Normal(0.0, 1.0))()

    def twice():
        model()
        model()

    with pytest.raises(ValueError, match="two random variables .* named 'first'"):
        ed.make_log_joint_fn(twice)(first=1.0)


def test_a_model_that_is_a_function_of_tensorflow_is_refused():
    with pytest.raises(TypeError, match="the model is a tf.function, .* pass the Python"):
        ed.make_log_joint_fn(tf.function(lambda: ed.Normal(0.0, 1.0, name="x")))


def test_log_joint_of_a_network_has_the_prior_of_its_weights(network):
    kernel, bias = tf.constant([[0.5], [-1.0]]), tf.constant([0.25])
    value = regression(network)(
        INPUTS, targets=TARGETS, **{"output/kernel": kernel, "output/bias": bias}
    )
    mean = (network.layers[0](INPUTS) @ kernel + bias)[:, 0]
    expected = tf.reduce_sum(tfd.Normal(mean, NOISE).log_prob(TARGETS))
    for weight in (kernel, bias):
        expected += tf.reduce_sum(tfd.Normal(0.0, 1.0).log_prob(weight))
    np.testing.assert_allclose(value, expected, rtol=1e-5)


def test_held_weights_need_no_values(network):
    weights = ed.sample_weights(network, seed=1)
    log_joint = regression(network)
    with ed.hold(network, weights):
        value = log_joint(INPUTS, targets=TARGETS)
    np.testing.assert_allclose(value, log_joint(INPUTS, targets=TARGETS, **weights))


def test_weight_counts_once_in_two_calls():
    layer = ed.layers.DenseReparameterization(
        2, use_bias=False, kernel_initializer=standard_normal(), name="dense"
    )
    layer.build([None, 2])
    log_joint = ed.make_log_joint_fn(lambda x: layer(layer(x)))
    value = log_joint(INPUTS, **{"dense/kernel": tf.zeros([2, 2])})
    np.testing.assert_allclose(value, -2.0 * np.log(2.0 * np.pi), rtol=1e-6)


@pytest.mark.parametrize(
    ("make", "shape"),
    [
        (lambda: tf.keras.layers.RNN(ed.layers.LSTMCellReparameterization(2)), [2, 4, 3]),
        (lambda: tf.keras.layers.RNN(ed.layers.GRUCellFlipout(2)), [2, 4, 3]),
        (lambda: ed.layers.Conv2DFlipout(2, 3), [1, 4, 4, 2]),
        (lambda: ed.layers.DenseHierarchical(2), [2, 3]),
        (lambda: ed.layers.DenseLocalReparameterization(2), [2, 3]),
    ],
)
def test_log_joint_of_a_layer_is_the_log_density_of_its_weights(make, shape):
    layer, inputs = make(), tf.ones(shape)
    layer(inputs)
    weights = ed.sample_weights(layer, seed=1)
    log_joint = ed.make_log_joint_fn(lambda x: layer(x))
    expected = sum(
        float(tf.reduce_sum(posterior.log_prob(weights[name])))
        for name, posterior in ed.posteriors(layer).items()
    )
    value = tf.function(lambda: log_joint(inputs, **weights))()
    np.testing.assert_allclose(value, expected, rtol=1e-5)


def test_output_of_a_reversible_layer_adds_nothing():
    class Double(ElementwiseAffine, tf.keras.layers.Layer):
        def call(self, inputs):
            return 2.0 * inputs

    def model():
        x = ed.Normal(0.0, 1.0, name="x")
        return ed.Normal(Double()(x), 1.0, name="y")

    value = ed.make_log_joint_fn(model)(x=1.0, y=2.0)
    expected = tfd.Normal(0.0, 1.0).log_prob([1.0, 0.0])
    np.testing.assert_allclose(value, tf.reduce_sum(expected), rtol=1e-6)


def exact_posterior(network):
    """Mean and covariance of the output layer's kernel and bias, in closed form."""
    features = np.hstack([network.layers[0](INPUTS), np.ones([12, 1])]).astype(np.float64)
    covariance = np.linalg.inv(features.T @ features / NOISE**2 + np.eye(3))
    return covariance @ features.T @ TARGETS.numpy() / NOISE**2, covariance


def test_hamiltonian_monte_carlo_finds_the_posterior_of_a_network(network):
    log_joint = regression(network)

    def log_density(weights):
        kernel, bias = tf.split(weights, [2, 1])
        values = {"output/kernel": kernel[:, tf.newaxis], "output/bias": bias}
        return log_joint(INPUTS, targets=TARGETS, **values)

    sampler = tfp.mcmc.HamiltonianMonteCarlo(
        lambda weights: tf.vectorized_map(log_density, weights),
        step_size=0.12,
        num_leapfrog_steps=8,
    )

    @tf.function
    def draw():
        return tfp.mcmc.sample_chain(
            num_results=150,
            num_burnin_steps=30,
            current_state=tf.zeros([50, 3]),
            kernel=sampler,
            trace_fn=lambda _, results: results.is_accepted,
            seed=[1, 2],
        )

    draws, accepted = draw()  # [150, 50, 3]
    assert np.mean(accepted) > 0.6
    mean, covariance = exact_posterior(network)
    size = np.sum(tfp.mcmc.effective_sample_size(draws), axis=0)
    error = np.sqrt(np.diag(covariance) / size)
    flat = draws.numpy().reshape([-1, 3])
    assert np.all(np.abs(flat.mean(0) - mean) < 4.0 * error)
    np.testing.assert_allclose(np.cov(flat.T), covariance, atol=0.1 * np.max(covariance))


def two_layers_of_one_name():
    prior = ed.initializers.TrainableNormalFixedStddev(1.0, "zeros")
    options = {"kernel_initializer": prior, "kernel_regularizer": None, "use_bias": False}
    layers = [
        ed.layers.DenseReparameterization(2, name="hidden", input_shape=[2], **options)
        for _ in range(2)
    ]
    return [
        tf.keras.Sequential([layer], name)
        for layer, name in zip(layers, ["first", "second"], strict=True)
    ]


def test_layers_of_one_name_in_sub_models_have_values_of_their_own():
    model = tf.keras.Sequential(two_layers_of_one_name())
    values = {
        f"{name}/hidden/kernel": tf.random.stateless_normal([2, 2], [0, i])
        for i, name in enumerate(["first", "second"])
    }
    expected = sum(np.sum(tfd.Normal(0.0, 1.0).log_prob(x)) for x in values.values())
    log_joint = ed.make_log_joint_fn(model)
    np.testing.assert_allclose(log_joint(tf.ones([1, 2]), **values), expected, rtol=1e-6)


@pytest.mark.parametrize("kind", ["log_joint", "tape", "condition"])
def test_two_layers_of_one_name_in_a_function_are_an_error(kind):
    first, second = two_layers_of_one_name()
    kernel = {"hidden/kernel": tf.ones([2, 2])}

    def program():
        return second(first(tf.ones([1, 2])))

    def run():
        if kind == "log_joint":
            return ed.make_log_joint_fn(program)(**kernel)
        with ed.tape() if kind == "tape" else ed.condition(**kernel):
            return program()

    with pytest.raises(ValueError, match="two layers .* 'hidden/kernel'; give each"):
        run()


def test_named_transform_of_a_random_variable_that_counts_is_an_error():
    layer = ed.layers.ActNorm()

    def program():
        x = ed.Normal(tf.zeros([1, 2]), 1.0, name="x")
        return ed.TransformedRandomVariable(x, layer, name="y")

    values = {"x": tf.ones([1, 2]), "y": tf.ones([1, 2])}
    with pytest.raises(ValueError, match=r"'y' is a transform of 'x', .* layer\(x\)"):
        ed.make_log_joint_fn(program)(**values)

    def by_layer():
        return layer(ed.Normal(tf.zeros([1, 2]), 1.0, name="x"))

    expected = 2 * tfd.Normal(0.0, 1.0).log_prob(1.0)
    np.testing.assert_allclose(ed.make_log_joint_fn(by_layer)(x=values["x"]), expected)
