import numpy as np
import pytest
import tensorflow as tf
from tensorflow_probability import distributions as tfd

import bayes_rl as ed
from bayes_rl import uncertainty

PROBS = tf.constant([[[0.2, 0.8], [0.5, 0.5]], [[0.6, 0.4], [0.5, 0.5]]])  # [S, N, classes]


def test_variance_parts_add_up_to_the_variance_of_the_mixture():
    means, stddevs = tf.constant([[0.0, 1.0], [3.0, 1.0]]), tf.constant([[1.0, 2.0]])
    parts = uncertainty.variance_parts(ed.Normal(means, stddevs))
    mixture = tfd.MixtureSameFamily(
        tfd.Categorical(probs=[0.5, 0.5]),
        tfd.Normal(tf.transpose(means), tf.transpose(stddevs)),
    )
    np.testing.assert_allclose(parts.total, mixture.variance(), rtol=1e-6)
    np.testing.assert_allclose(parts.epistemic, [2.25, 0.0])


def test_epistemic_variance_of_a_layer_is_that_of_its_posterior():
    layer = ed.layers.DenseReparameterization(1, use_bias=False, name="dense")
    inputs = tf.constant([[1.0, 2.0], [0.0, 3.0]])
    layer.build(inputs.shape)
    with ed.hold(layer, ed.sample_weights(layer, [20_000], seed=1)):
        parts = uncertainty.variance_parts(ed.Normal(layer(inputs), 0.1))
    expected = np.square(inputs) @ layer.kernel.variance()
    # The relative standard error of a variance of S normal draws is sqrt(2 / S).
    np.testing.assert_allclose(parts.epistemic, expected, rtol=5 * np.sqrt(2 / 20_000))
    # A float32 mean of 20000 terms is no more precise.
    np.testing.assert_allclose(parts.aleatoric, np.full([2, 1], 0.01), rtol=1e-3)


@pytest.mark.parametrize("make", [ed.Categorical, ed.OneHotCategorical])
def test_entropy_parts_of_classes(make):
    parts = uncertainty.entropy_parts(make(probs=PROBS))
    total = tfd.Categorical(probs=[[0.4, 0.6], [0.5, 0.5]]).entropy()
    aleatoric = tf.reduce_mean(tfd.Categorical(probs=PROBS).entropy(), 0)
    np.testing.assert_allclose(parts.total, total, rtol=1e-6)
    np.testing.assert_allclose(parts.aleatoric, aleatoric, rtol=1e-6)
    information = uncertainty.mutual_information(tfd.Bernoulli(probs=PROBS[..., 1]))
    np.testing.assert_allclose(information, parts.epistemic, atol=1e-6)


def test_certain_draws_that_disagree_are_epistemic_alone():
    parts = uncertainty.entropy_parts(ed.Categorical(probs=np.eye(3, dtype=np.float32)))
    np.testing.assert_allclose(parts, [np.log(3.0), 0.0], rtol=1e-6)


def test_information_about_far_apart_normals_is_log_of_their_number():
    far = ed.Normal([[0.0, 1.0], [100.0, 1.0], [200.0, 1.0]], 1.0)
    information = uncertainty.mutual_information(far, num_samples=4_000, seed=(1, 2))
    # Standard error: that of the mean of 12000 draws' z^2 / 2, whose stddev is sqrt(1/2).
    tolerance = 5 * np.sqrt(0.5 / 12_000)
    np.testing.assert_allclose(information, [np.log(3.0), 0.0], atol=tolerance)


def test_mean_probabilities_are_over_the_draws():
    expected = [[0.4, 0.6], [0.5, 0.5]]
    np.testing.assert_allclose(
        uncertainty.mean_probabilities(ed.Categorical(probs=PROBS)), expected, rtol=1e-6
    )


def test_errors_say_what_is_expected():
    with pytest.raises(ValueError, match="first batch axis .* must be draws"):
        uncertainty.variance_parts(ed.Normal(0.0, 1.0))
    with pytest.raises(ValueError, match="must be Categorical.*got Normal"):
        uncertainty.mean_probabilities(ed.Normal([0.0], 1.0))
