import numpy as np
import pytest
import tensorflow as tf
from tensorflow_probability import distributions as tfd

import bayes_rl as ed

COUNT, CHUNK = 100_000, 50_000
SIZES = [3, 16, 4]
INPUTS = np.array([[0.5, -1.0, 2.0], [1.5, 0.2, -0.4]], np.float32)


def make(units, features, **kwargs):
    mean = tf.keras.initializers.VarianceScaling(2.0, seed=units)
    layer = ed.layers.DenseDVI(
        units,
        kernel_initializer=ed.initializers.TrainableNormal(mean, "zeros"),
        bias_initializer=ed.initializers.TrainableNormal("ones", "zeros"),
        **kwargs,
    )
    layer.build([None, features])
    stddev = layer.kernel_initializer.stddev
    stddev.assign(tf.fill(stddev.shape, -1.0))
    return layer


def drawn(layers):
    """Outputs of each layer, [COUNT, 2, units], over draws of all kernels and biases."""
    generator = np.random.default_rng(0)
    chunks = [[] for _ in layers]
    for _ in range(COUNT // CHUNK):
        outputs = INPUTS[None]
        for layer, kept in zip(layers, chunks, strict=True):
            kernel, bias = (draw_of(x, generator) for x in (layer.kernel, layer.bias))
            outputs = np.matmul(outputs, kernel) + bias[:, None]
            kept.append(outputs)
            outputs = np.maximum(outputs, 0.0)
    return [np.concatenate(kept) for kept in chunks]


def draw_of(weight, generator):
    mean, stddev = weight.mean().numpy(), weight.stddev().numpy()
    noise = generator.standard_normal([CHUNK, *mean.shape], np.float32)
    return mean + stddev * noise


@pytest.fixture(scope="module")
def layers():
    return [
        make(units, features) for features, units in zip(SIZES, SIZES[1:], strict=False)
    ]


@pytest.fixture(scope="module")
def preactivations(layers):
    return drawn(layers)


def passed_on(layers, activations):
    outputs = tf.constant(INPUTS)
    for layer, activation in zip(layers, activations, strict=False):
        layer.activation = tf.keras.activations.get(activation)
        outputs = layer(outputs)
    return outputs


def errors(outputs, draws):
    """Errors of mean and covariance, in standard errors of the draws."""
    center = draws - draws.mean(0)
    mean, covariance = outputs.mean().numpy(), outputs.covariance().numpy()
    mean_error = (mean - draws.mean(0)) / (center.std(0) / np.sqrt(COUNT))
    products = [center[:, :, i, None] * center for i in range(draws.shape[-1])]
    estimate = np.stack([x.mean(0) for x in products], 1)
    standard_error = np.stack([x.std(0) for x in products], 1) / np.sqrt(COUNT)
    return abs(mean_error).max(), abs((covariance - estimate) / standard_error).max()


def test_moments_of_one_rectified_layer_are_those_of_draws(layers, preactivations):
    outputs = passed_on(layers, ["relu"])
    draws = np.maximum(preactivations[0], 0.0)[..., :6]
    limited = tfd.MultivariateNormalTriL(
        outputs.mean()[:, :6], tf.linalg.cholesky(outputs.covariance()[:, :6, :6])
    )
    assert max(errors(limited, draws)) < 5


def test_moments_before_the_second_rectifier_are_those_of_draws(layers, preactivations):
    outputs = passed_on(layers, ["relu", None])
    assert max(errors(outputs, preactivations[1])) < 5


def test_moments_of_two_rectified_layers_are_those_of_draws(layers, preactivations):
    # The second layer takes sums of 16 rectified units for normal, which they nearly are.
    outputs = passed_on(layers, ["relu", "relu"])
    stddev = preactivations[1].std(0)
    draws = np.maximum(preactivations[1], 0.0)
    covariance = np.stack([np.cov(draws[:, n].T) for n in range(2)])
    scale = stddev[:, :, None] * stddev[:, None, :]
    assert np.max(abs(outputs.mean() - draws.mean(0)) / stddev) < 0.01
    assert np.max(abs(outputs.covariance() - covariance) / scale) < 0.02


def test_diagonal_layer_has_the_variance_of_independent_inputs():
    layer = make(4, 3, diagonal=True)
    inputs = tfd.MultivariateNormalTriL(
        tf.constant(INPUTS),
        tf.linalg.cholesky(
            tf.constant([[2.0, 0.9, 0.1], [0.9, 1.0, 0.0], [0.1, 0.0, 0.5]])
        ),
    )
    outputs = layer(ed.RandomVariable(inputs))
    mean, variance = layer.kernel.mean(), layer.kernel.variance()
    expected = (INPUTS**2 + inputs.variance()) @ variance + inputs.variance() @ mean**2
    expected += layer.bias.variance()
    np.testing.assert_allclose(outputs.variance(), expected, rtol=1e-5)
    assert isinstance(outputs.distribution, tfd.MultivariateNormalDiag)


@pytest.mark.parametrize("activation", [None, "relu"])
def test_held_kernel_gives_the_outputs_of_dense(activation):
    layer = make(4, 3, activation=activation)
    weights = ed.sample_weights(layer, [5], seed=1)
    with ed.hold(layer, weights):
        outputs = layer(tf.constant(INPUTS))
    kernel, bias = (weights[f"{layer.name}/{key}"].numpy() for key in ("kernel", "bias"))
    expected = INPUTS @ kernel + bias[:, None]
    expected = expected if activation is None else np.maximum(expected, 0.0)
    np.testing.assert_allclose(outputs, expected, rtol=1e-5, atol=1e-5)


def test_held_kernel_passes_the_covariance_of_its_inputs_on():
    layer = make(4, 3)
    weights = ed.mean_weights(layer)
    root = tf.constant([[1.0, 0.0, 0.0], [0.5, 1.0, 0.0], [0.1, 0.2, 0.3]])
    with ed.hold(layer, weights):
        outputs = layer(ed.MultivariateNormalTriL(tf.constant(INPUTS), root))
    half = weights[f"{layer.name}/kernel"].numpy().T @ root.numpy()
    np.testing.assert_allclose(outputs.covariance()[1], half @ half.T, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("draws", [2, 5])
def test_many_held_draws_take_the_same_random_inputs(draws):
    layer = make(4, 3)
    weights = ed.sample_weights(layer, [draws], seed=1)
    root = tf.constant([[1.0, 0.0, 0.0], [0.5, 1.0, 0.0], [0.1, 0.2, 0.3]])
    inputs = ed.MultivariateNormalTriL(tf.constant(INPUTS[:2]), root)
    with ed.hold(layer, weights):
        together = layer(inputs)
    for draw in range(draws):
        with ed.hold(layer, {name: value[draw] for name, value in weights.items()}):
            alone = layer(inputs)
        np.testing.assert_allclose(together.mean()[draw], alone.mean(), atol=1e-5)
        np.testing.assert_allclose(
            together.covariance()[draw], alone.covariance(), atol=1e-5
        )


def test_outputs_are_the_same_at_every_call_and_have_gradients_to_all_parameters():
    hidden, last = make(5, 3, activation="relu"), make(2, 5, activation="relu")
    with tf.GradientTape() as tape:
        first, second = (last(hidden(tf.constant(INPUTS))) for _ in range(2))
        loss = -tf.reduce_sum(first.log_prob(tf.ones([2, 2])))
    np.testing.assert_array_equal(first.covariance(), second.covariance())
    variables = hidden.trainable_variables + last.trainable_variables
    gradients = tape.gradient(loss, variables)
    assert all(np.all(np.isfinite(x)) and np.any(x != 0.0) for x in gradients)


def test_stacks_in_a_keras_model():
    model = tf.keras.Sequential(
        [
            tf.keras.Input([3]),
            ed.layers.DenseDVI(5, activation="relu"),
            ed.layers.DenseDVI(2, diagonal=True),
        ]
    )
    assert model(tf.constant(INPUTS)).stddev().shape == [2, 2]
    assert model.layers[1].get_config()["diagonal"]


@pytest.mark.parametrize(
    ("activation", "name"), [("tanh", "tanh"), (lambda x: x**2, "<lambda>")]
)
def test_other_activations_are_an_error(activation, name):
    with pytest.raises(NotImplementedError, match=f"linear or relu, got '{name}'"):
        ed.layers.DenseDVI(4, activation=activation)


def test_posterior_that_is_not_normal_is_an_error():
    layer = ed.layers.DenseDVI(4, kernel_initializer="trainable_cauchy", name="dense")
    with pytest.raises(ValueError, match="posterior of 'dense/kernel' must be normal"):
        layer(tf.constant(INPUTS))
