import numpy as np
import pytest
import tensorflow as tf

import bayes_rl as ed

INPUTS = tf.random.stateless_normal([4, 3], [0, 1])
SAMPLES = 20_000


@pytest.fixture(autouse=True)
def same_initial_values():
    tf.keras.utils.set_random_seed(0)


def make(**options):
    options = {"test_mc_samples": SAMPLES, "train_mc_samples": SAMPLES, **options}
    return ed.layers.HeteroscedasticSNGPLayer(3, 2, num_inducing=32, **options)


def noise_covariance(layer, features):
    factors, diag = (x.numpy() for x in layer._compute_scale_param(features))
    return factors @ np.swapaxes(factors, -1, -2) + diag[:, :, np.newaxis] ** 2 * np.eye(3)


@pytest.mark.parametrize("training", [False, True])
def test_latents_have_the_mean_and_variance_of_the_process_and_of_the_noise(training):
    layer = make(
        return_random_features=True,
        return_unaveraged_logits=True,
        sngp_var_weight=2.0,
        het_var_weight=0.5,
    )
    layer(INPUTS, training=True)
    _, latents, gp_covariance, features = layer(INPUTS, training=training, seed=1)
    mean = layer.loc_layer.output_layer(features) + layer.loc_layer.bias
    covariance = noise_covariance(layer, features)
    if not training:
        added = 2.0 * np.diag(gp_covariance)[:, np.newaxis, np.newaxis] * np.eye(3)
        assert np.all(np.diag(gp_covariance) > 0.01)
        covariance = covariance + added
    variance = np.einsum("bkk->bk", covariance)
    error = 5 * np.sqrt(variance / SAMPLES)
    assert np.all(abs(np.mean(latents, axis=1) - mean) < error)
    centered = latents.numpy() - mean.numpy()[:, np.newaxis]
    sampled = np.einsum("bsk,bsl->bkl", centered, centered) / SAMPLES
    spread = variance[:, :, np.newaxis] * variance[:, np.newaxis] + covariance**2
    assert np.all(abs(sampled - covariance) < 5 * np.sqrt(spread / SAMPLES))


def test_weight_of_the_noise_scales_its_covariance():
    layer = make()
    layer(INPUTS)
    features = layer.loc_layer(INPUTS)[-1]
    before = noise_covariance(layer, features)
    layer.het_var_weight = 0.25
    after = noise_covariance(layer, features)
    np.testing.assert_allclose(after, 0.25 * before, rtol=1e-4, atol=1e-6)


def test_data_lower_the_variance_until_they_are_forgotten():
    layer = make()
    layer.build([None, 3])
    before = np.diag(layer(INPUTS, training=False)[1])
    layer(INPUTS, training=True)
    after = np.diag(layer(INPUTS, training=False)[1])
    layer.reset_covariance_matrix()
    assert np.all(after < before)
    np.testing.assert_allclose(np.diag(layer(INPUTS, training=False)[1]), before, rtol=1e-4)


def test_outputs_are_those_asked_for():
    probs = make(logits_only=False, return_gp_cov=False)(INPUTS)[2]
    np.testing.assert_allclose(tf.reduce_sum(probs, -1), np.ones(4), rtol=1e-5)
    logits = make(return_gp_cov=False)(INPUTS)
    assert logits.shape == [4, 3]


def test_positional_arguments_of_the_process_are_those_of_edward2():
    positional = (3, 2, 1.0, 5, 5, False, False, True, 1e-7, None, None, None, 16, "linear")
    layer = ed.layers.HeteroscedasticSNGPLayer(*positional)
    assert layer.loc_layer.gp_kernel_type == "linear"
    copied = type(layer).from_config(layer.get_config())
    assert copied.loc_layer.num_inducing == 16
    assert copied(INPUTS)[0].shape == [4, 3]


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match="sngp_var_weight must not be negative, got -1"):
        make(sngp_var_weight=-1)
    with pytest.raises(TypeError, match="Keyword argument not understood.*'inducing'"):
        make(inducing=3)
