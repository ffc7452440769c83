import numpy as np
import pytest
import tensorflow as tf
from tensorflow_probability import distributions as tfd

import bayes_rl as ed
from bayes_rl.layers.outputs.heteroscedastic.monte_carlo import (
    compute_temperature,
    inverse_temperature,
)

INPUTS = tf.random.stateless_normal([4, 3], [0, 1])
SAMPLES = 20_000
BOUNDS = [(None, None), (0.5, None), (None, 4.0), (0.5, 4.0)]


@pytest.fixture(autouse=True)
def same_initial_values():
    tf.keras.utils.set_random_seed(0)


def expectation(link, loc, covariance):
    """E[link(latents)], latents ~ Normal(loc, covariance), by Gauss-Hermite quadrature."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(30)
    size = loc.shape[-1]
    grid = np.stack(np.meshgrid(*[nodes] * size, indexing="ij"), -1).reshape(-1, size)
    weight = np.prod(np.meshgrid(*[weights] * size, indexing="ij"), axis=0).reshape(-1)
    factor = np.linalg.cholesky(covariance.astype(np.float64))
    latents = loc[:, np.newaxis] + grid @ np.swapaxes(factor, -1, -2)
    return np.einsum("g,bgk->bk", weight / weight.sum(), link(latents))


def softmax(x):
    x = np.exp(x - x.max(-1, keepdims=True))
    return x / x.sum(-1, keepdims=True)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def parameters(layer):
    """Mean and covariance of the latents for INPUTS."""

    def linear(dense):
        return (INPUTS @ dense.kernel + dense.bias).numpy()

    loc = linear(layer.loc_layer)
    if not hasattr(layer, "diag_layer"):
        scale = np.log1p(np.exp(linear(layer.scale_layer))) + 1e-3
        return loc, scale[..., np.newaxis] ** 2 * np.eye(loc.shape[-1])
    diag = np.log1p(np.exp(linear(layer.diag_layer))) + 1e-3
    factors = linear(layer.scale_layer)
    if layer.parameter_efficient:
        shared = layer.homoscedastic_layer.kernel.numpy().T
        factors = factors[..., np.newaxis] * shared
    factors = factors.reshape([*loc.shape, -1])
    return loc, factors @ np.swapaxes(factors, -1, -2) + diag[
        ..., np.newaxis
    ] ** 2 * np.eye(loc.shape[-1])


OPTIONS = {"compute_pred_variance": True, "test_mc_samples": SAMPLES}
LAYERS = {
    "diagonal": lambda **kw: ed.layers.MCSoftmaxDense(3, **kw),
    "binary": lambda **kw: ed.layers.MCSoftmaxDense(2, **kw),
    "factors": lambda **kw: ed.layers.MCSoftmaxDenseFA(3, 2, **kw),
    "efficient": lambda **kw: ed.layers.MCSoftmaxDenseFA(
        3, 2, parameter_efficient=True, **kw
    ),
    "labels": lambda **kw: ed.layers.MCSigmoidDenseFA(2, 1, **kw),
}


@pytest.mark.parametrize("kind", LAYERS)
@pytest.mark.parametrize("is_shared", [False, True])
def test_probabilities_and_their_variance_are_the_integrals_over_the_noise(kind, is_shared):
    layer = LAYERS[kind](temperature=0.7, share_samples_across_batch=is_shared, **OPTIONS)
    logits, log_probs, probs, variance = layer(INPUTS, training=False, seed=(1, 2))
    loc, covariance = parameters(layer)
    link = softmax if kind in ("diagonal", "factors", "efficient") else sigmoid
    expected = expectation(lambda x: link(x / 0.7), loc, covariance)
    second = expectation(lambda x: link(x / 0.7) ** 2, loc, covariance)
    error = 5 * np.sqrt((second - expected**2) / SAMPLES)
    assert np.all(abs(probs - expected) < error)
    np.testing.assert_allclose(variance, second - expected**2, rtol=0.1, atol=1e-3)
    np.testing.assert_allclose(np.exp(log_probs), probs, rtol=1e-5)
    if link is softmax:
        np.testing.assert_array_equal(logits, log_probs)
        np.testing.assert_allclose(tf.reduce_sum(probs, -1), np.ones(4), rtol=1e-5)
    else:
        np.testing.assert_allclose(sigmoid(logits.numpy()), probs, rtol=1e-5)


@pytest.mark.parametrize("kind", ["factors", "efficient"])
def test_noise_has_the_covariance_of_a_factor_analysis(kind):
    layer = LAYERS[kind]()
    layer(INPUTS)
    scale = layer._compute_scale_param(INPUTS)
    noise = layer._compute_noise_samples(scale, SAMPLES, tf.constant([1, 2])).numpy()
    _, covariance = parameters(layer)
    sampled = np.einsum("bsk,bsl->bkl", noise, noise) / SAMPLES
    variance = np.einsum("bkk->bk", covariance)
    spread = variance[:, :, np.newaxis] * variance[:, np.newaxis] + covariance**2
    assert np.all(abs(sampled - covariance) < 5 * np.sqrt(spread / SAMPLES))
    correlation = np.einsum("sk,sl->kl", noise[0], noise[1]) / SAMPLES
    assert np.all(abs(correlation) < 6 * np.sqrt(variance.max() ** 2 / SAMPLES))


def test_seed_decides_the_noise_and_leaves_the_global_generator_alone():
    layer = ed.layers.MCSoftmaxDense(3, train_mc_samples=5, logits_only=True)
    layer(INPUTS)
    draws = []
    for call in (lambda: layer(INPUTS, seed=3), lambda: None):
        tf.random.set_seed(1)
        call()
        draws += [tf.random.normal([3])]
    np.testing.assert_array_equal(*draws)
    np.testing.assert_array_equal(layer(INPUTS, seed=3), layer(INPUTS, seed=3))
    assert np.all(layer(INPUTS, seed=3) != layer(INPUTS, seed=4))
    assert np.all(layer(INPUTS) != layer(INPUTS))


def test_training_chooses_the_number_of_samples():
    layer = ed.layers.MCSoftmaxDense(
        3, train_mc_samples=5, test_mc_samples=7, return_unaveraged_logits=True
    )
    for training, count in [(True, 5), (False, 7)]:
        log_probs, *_, samples = layer(INPUTS, training=training)
        assert samples.shape == [4, count, 3]
        mean = np.log(softmax(samples.numpy()).mean(1))
        np.testing.assert_allclose(log_probs, mean, rtol=1e-4)


@pytest.mark.parametrize("jit_compile", [False, True])
@pytest.mark.parametrize("kind", ["binary", "diagonal"])
def test_empty_batch_has_no_outputs_and_gradients_of_zero(kind, jit_compile):
    layer = LAYERS[kind](compute_pred_variance=True, train_mc_samples=5)
    layer(INPUTS)

    def call(inputs):
        with tf.GradientTape() as tape:
            outputs = layer(inputs)
            total = tf.reduce_sum(outputs[1])
        return outputs, tape.gradient(total, layer.trainable_variables)

    # Of a batch of any size, since graphs of known sizes drop what is empty.
    signature = None if jit_compile else [tf.TensorSpec([None, 3])]
    call = tf.function(call, signature, jit_compile=jit_compile)
    outputs, gradients = call(INPUTS[:0])
    assert [x.shape for x in outputs] == [[0, layer.num_latents]] * 4
    assert all(np.all(x == 0) for x in gradients)


def test_improbable_classes_keep_finite_gradients():
    layer = ed.layers.MCSoftmaxDense(2, logits_only=True, train_mc_samples=10)
    layer(INPUTS)
    layer.loc_layer.bias.assign([-300.0])
    with tf.GradientTape() as tape:
        logits = layer(INPUTS)
    assert np.all(np.isfinite(logits))
    assert all(np.all(np.isfinite(x)) for x in tape.gradient(logits, layer.weights))


@pytest.mark.parametrize("bounds", [(None, None), (0.5, None), (0.2, 5.0)])
def test_tuned_temperature_starts_where_it_is_told_and_learns(bounds):
    layer = ed.layers.MCSoftmaxDense(
        3,
        temperature=1.5,
        tune_temperature=True,
        temperature_lower_bound=bounds[0],
        temperature_upper_bound=bounds[1],
        logits_only=True,
    )
    with tf.GradientTape() as tape:
        logits = layer(INPUTS, seed=1)[0, 0]
    raw = layer.pre_sigmoid_temperature
    np.testing.assert_allclose(compute_temperature(raw, *bounds), 1.5, rtol=1e-5)
    assert float(tape.gradient(logits, raw)) != 0


def test_heads_of_an_ensemble_have_parameters_and_noise_of_their_own():
    layer = ed.layers.MultiHeadMCSoftmaxDenseFA(3, 2, ensemble_size=2, **OPTIONS)
    probs = layer(INPUTS, training=False, seed=1)[2].numpy()
    loc = layer.project(layer.loc_layer, INPUTS, 3).numpy()
    factors, diag = (x.numpy() for x in layer._compute_scale_param(INPUTS))
    for head in range(2):
        low_rank = factors[:, head] @ np.swapaxes(factors[:, head], -1, -2)
        covariance = low_rank + diag[:, head, :, np.newaxis] ** 2 * np.eye(3)
        expected = expectation(softmax, loc[:, head], covariance)
        second = expectation(lambda x: softmax(x) ** 2, loc[:, head], covariance)
        error = 5 * np.sqrt((second - expected**2) / SAMPLES)
        assert np.all(abs(probs[:, head] - expected) < error)


def test_pixels_are_classified_each_with_noise_of_its_own():
    layer = ed.layers.MCSoftmaxDenseFASegmentation(3, 2, train_mc_samples=50)
    images = tf.tile(INPUTS[:, tf.newaxis, tf.newaxis], [1, 2, 2, 1])
    probs = layer(images, seed=1)[2]
    assert probs.shape == [4, 2, 2, 3]
    assert np.all(probs[:, 0, 0] != probs[:, 0, 1])
    with pytest.raises(ValueError, match=r"\[batch, height, width, features\], got \(4, 3"):
        ed.layers.MCSoftmaxDenseFASegmentation(3, 2)(INPUTS)


def test_given_layers_are_used_tracked_and_saved():
    given = [tf.keras.layers.Dense(units) for units in (6, 3, 3)]
    layer = ed.layers.MCSoftmaxDenseFACustomLayers(3, 2, *given, **OPTIONS)
    probs = layer(INPUTS, training=False, seed=1)[2]
    assert len(layer.trainable_variables) == 6
    assert layer.loc_layer is given[1]
    loc, covariance = parameters(layer)
    expected = expectation(softmax, loc, covariance)
    np.testing.assert_allclose(probs, expected, atol=5 * 0.5 / np.sqrt(SAMPLES))
    copied = type(layer).from_config(layer.get_config())
    assert copied.scale_layer.units == 6


@pytest.mark.parametrize("noise", ["Normal", "Logistic", tfd.Gumbel])
def test_exact_probability_is_the_integral_of_the_latent_density(noise):
    layer = ed.layers.ExactSigmoidDense(3, noise)
    logits, log_probs, probs, variance = layer(INPUTS)
    loc = (INPUTS @ layer.loc_layer.kernel + layer.loc_layer.bias).numpy()
    raw = (INPUTS @ layer.scale_layer.kernel + layer.scale_layer.bias).numpy()
    latent = layer.logit_noise(loc, np.log1p(np.exp(raw)) + 0.01)
    grid = np.linspace(0, 60, 60_001, dtype=np.float32)
    density = latent.prob(grid[:, np.newaxis, np.newaxis]).numpy().astype(np.float64)
    integral = (density.sum(0) - (density[0] + density[-1]) / 2) * (grid[1] - grid[0])
    np.testing.assert_allclose(probs, integral, rtol=1e-4)
    np.testing.assert_allclose(np.exp(log_probs), probs, rtol=1e-5)
    np.testing.assert_allclose(sigmoid(logits.numpy()), probs, rtol=1e-5)
    assert variance is None


def test_exact_probability_is_the_limit_of_the_sampled_one():
    exact = ed.layers.ExactSigmoidDense(2, min_scale=1e-3)
    sampled = ed.layers.MCSigmoidDenseFA(2, temperature=1e-3, **OPTIONS)
    expected = exact(INPUTS)[2].numpy()
    sampled(INPUTS)
    sampled.set_weights(exact.get_weights())
    probs = sampled(INPUTS, training=False, seed=1)[2]
    error = 5 * np.sqrt(expected * (1 - expected) / SAMPLES) + 1e-3
    assert np.all(abs(probs - expected) < error)


def test_bad_arguments_are_named():
    make = ed.layers.MCSoftmaxDense
    with pytest.raises(ValueError, match="num_classes must be at least 2, got 1"):
        make(1)
    with pytest.raises(ValueError, match="temperature must be above 0, got 0"):
        make(3, temperature=0)
    with pytest.raises(ValueError, match=r"in tfp.distributions, got 'Norml'"):
        make(3, "Norml")
    with pytest.raises(ValueError, match="num_factors must not be negative, got -1"):
        ed.layers.MCSoftmaxDenseFA(3, -1)


@pytest.mark.parametrize("bounds", [(2.0, 2.0), (2.0, 1.0), (None, 0.0), (-1.0, None)])
def test_bounds_of_the_temperature_in_wrong_order_are_errors(bounds):
    lower, upper = bounds
    with pytest.raises(
        ValueError, match=f"temperature_lower_bound .* got {lower} and {upper}"
    ):
        ed.layers.MCSoftmaxDense(
            3, temperature_lower_bound=lower, temperature_upper_bound=upper
        )


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
