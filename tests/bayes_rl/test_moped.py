import numpy as np
import pytest
import tensorflow as tf

import bayes_rl as ed
from bayes_rl.moped import start_at_means


def trained(**options):
    """A Bayesian twin of two dense layers with random weights."""
    dense = [tf.keras.layers.Dense(4, name="first"), tf.keras.layers.Dense(2)]
    model = tf.keras.Sequential([tf.keras.Input([3]), *dense])
    generator = np.random.default_rng(1)
    model.set_weights([generator.normal(0, 0.3, w.shape) for w in model.get_weights()])
    return ed.to_bayesian(model, **options)


def test_start_at_means_is_the_prior_and_posterior_of_moped():
    bayesian = trained()
    start_at_means(bayesian, delta=0.2, prior_stddev=0.5, min_stddev=0.01)
    posterior = ed.posteriors(bayesian)["first/kernel"]
    mean, stddev = posterior.mean().numpy(), posterior.stddev().numpy()
    np.testing.assert_allclose(stddev, np.maximum(0.2 * abs(mean), 0.01), rtol=1e-4)
    kl = np.log(0.5 / stddev) + stddev**2 / (2 * 0.5**2) - 0.5
    cost = ed.kl_divergences(bayesian)["first/kernel"]
    np.testing.assert_allclose(cost, kl.sum(), rtol=1e-5)
    assert len(bayesian.trainable_weights) == 6  # 2 posteriors of 2 parameters, 2 biases


def test_shared_stddev_starts_at_the_root_mean_square():
    initializer = ed.initializers.TrainableNormalSharedStddev()
    bayesian = trained(initializer=initializer)
    start_at_means(bayesian, delta=0.2)
    posterior = ed.posteriors(bayesian)["first/kernel"]
    expected = 0.2 * np.sqrt(np.mean(posterior.mean() ** 2))
    np.testing.assert_allclose(posterior.stddev()[0, 0], expected, rtol=1e-3)


def test_a_weight_that_costs_nothing_gets_no_prior():
    layer = ed.layers.DenseReparameterization(2, kernel_regularizer=None)
    model = tf.keras.Sequential([tf.keras.Input([3]), layer])
    start_at_means(model, delta=0.2, min_stddev=0.01)
    posterior = ed.posteriors(model)[f"{layer.name}/kernel"]
    stddev = np.maximum(0.2 * np.abs(posterior.mean()), 0.01)
    np.testing.assert_allclose(posterior.stddev(), stddev, rtol=1e-4)
    assert model.losses == []


def test_start_at_means_needs_normal_posteriors():
    bayesian = trained(initializer="trainable_deterministic")
    with pytest.raises(ValueError, match="normal posterior, got TrainableDeterministic"):
        start_at_means(bayesian)
    with pytest.raises(ValueError, match="delta must be above 0, got 0"):
        start_at_means(bayesian, delta=0)


@pytest.mark.parametrize("kind", ["attention", "bidirectional"])
def test_prior_of_a_layer_in_a_layer_is_cloned(kind):
    inputs = tf.keras.Input([5, 3])
    if kind == "attention":
        outputs = tf.keras.layers.MultiHeadAttention(2, 2)(inputs, inputs)
    else:
        outputs = tf.keras.layers.Bidirectional(tf.keras.layers.LSTM(2))(inputs)
    bayesian = ed.to_bayesian(tf.keras.Model(inputs, outputs))
    start_at_means(bayesian)
    clone = tf.keras.models.clone_model(bayesian)
    clone.set_weights(bayesian.get_weights())
    np.testing.assert_allclose(clone.losses, bayesian.losses, rtol=1e-5)
