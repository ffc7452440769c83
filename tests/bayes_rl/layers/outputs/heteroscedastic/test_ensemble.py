import numpy as np
import pytest
import tensorflow as tf

import bayes_rl as ed

INPUTS = tf.random.stateless_normal([4, 3], [0, 1])
WEIGHTS = [0.3, 0.7]


class Fixed(tf.keras.layers.Layer):
    """Output layer with the same predictions for every example."""

    def __init__(self, probs, variance=None):
        super().__init__()
        self.probs, self.variance = probs, variance

    def call(self, inputs, training=True, seed=None):
        probs = tf.tile(tf.constant([self.probs], tf.float32), [tf.shape(inputs)[0], 1])
        logits = tf.math.log(probs)
        if probs.shape[-1] == 1:
            logits -= tf.math.log1p(-probs)
        variance = None if self.variance is None else tf.constant([self.variance])
        return logits, tf.math.log(probs), probs, variance


def make(one, other, variance=None, **options):
    members = [Fixed(one, variance), Fixed(other, variance)]
    return ed.layers.EnsembleHeteroscedasticOutputs(
        max(len(one), 2), members, WEIGHTS, **options
    )


@pytest.mark.parametrize("training", [True, False])
def test_probabilities_are_averaged(training):
    layer = make([0.1, 0.2, 0.7], [0.5, 0.3, 0.2], variance=[0.01, 0.02, 0.03])
    logits, log_probs, probs, variance = layer(INPUTS, training=training)
    one, other = np.array([0.1, 0.2, 0.7]), np.array([0.5, 0.3, 0.2])
    expected = 0.3 * one + 0.7 * other
    np.testing.assert_allclose(probs[0], expected, rtol=1e-5)
    np.testing.assert_allclose(np.exp(log_probs[0]), expected, rtol=1e-5)
    np.testing.assert_array_equal(logits, log_probs)
    between = 0.3 * 0.7 * (one - other) ** 2
    np.testing.assert_allclose(variance[0], [0.01, 0.02, 0.03] + between, rtol=1e-4)


def test_gibbs_averages_log_probabilities_in_training_only():
    layer = make([0.1, 0.2, 0.7], [0.5, 0.3, 0.2], averaging="gibbs_cross_ent")
    one, other = np.array([0.1, 0.2, 0.7]), np.array([0.5, 0.3, 0.2])
    log_probs = layer(INPUTS, training=True)[1]
    expected = 0.3 * np.log(one) + 0.7 * np.log(other)
    np.testing.assert_allclose(log_probs[0], expected, rtol=1e-5)
    np.testing.assert_allclose(layer(INPUTS, training=True)[2][0], np.exp(expected), 1e-5)
    probs = layer(INPUTS, training=False)[2]
    np.testing.assert_allclose(probs[0], 0.3 * one + 0.7 * other, rtol=1e-5)


@pytest.mark.parametrize(("training", "averaging"), [(True, "gibbs"), (False, "ensemble")])
def test_two_classes_have_the_cross_entropy_of_their_averaging(training, averaging):
    layer = make([0.1], [0.6], averaging="gibbs_cross_ent")
    logits, log_probs, probs, _ = layer(INPUTS, training=training)
    means = {
        "gibbs": lambda *p: 0.3 * np.log(p[0]) + 0.7 * np.log(p[1]),
        "ensemble": lambda *p: np.log(0.3 * p[0] + 0.7 * p[1]),
    }
    one, zero = means[averaging](0.1, 0.6), means[averaging](0.9, 0.4)
    np.testing.assert_allclose(log_probs, np.full([4, 1], one), rtol=1e-5)
    np.testing.assert_allclose(log_probs - logits, np.full([4, 1], zero), rtol=1e-5)
    np.testing.assert_allclose(probs, np.full([4, 1], np.exp(one)), rtol=1e-5)


@pytest.mark.parametrize("sure", [[0.0], [1.0]])
def test_no_probability_of_two_classes_is_below_the_least(sure):
    layer = make(sure, sure, eps=1e-3)
    logits, log_probs, _, _ = layer(INPUTS)
    least = np.log(1e-3) - np.log1p(-1e-3)
    np.testing.assert_allclose(logits[0], [least * (1 - 2 * sure[0])], rtol=1e-5)
    np.testing.assert_allclose(log_probs, tf.math.log_sigmoid(logits), rtol=1e-3)


def test_two_classes_have_one_probability():
    probs, variance = make([0.1], [0.6])(INPUTS)[2:]
    np.testing.assert_allclose(probs, np.full([4, 1], 0.3 * 0.1 + 0.7 * 0.6), rtol=1e-5)
    assert variance is None


def test_members_have_noise_of_their_own():
    members = [ed.layers.MCSoftmaxDense(3, train_mc_samples=2) for _ in range(2)]
    layer = ed.layers.EnsembleHeteroscedasticOutputs(3, members, [0.5, 0.5])
    first = layer(INPUTS, seed=1)[0]
    np.testing.assert_array_equal(layer(INPUTS, seed=1)[0], first)
    assert np.all(layer(INPUTS, seed=2)[0] != first)
    assert len(layer.trainable_variables) == 8


def test_bad_arguments_are_named():
    members = [ed.layers.MCSoftmaxDense(3) for _ in range(2)]
    make_ensemble = ed.layers.EnsembleHeteroscedasticOutputs
    with pytest.raises(ValueError, match="must have 2 weights, one a layer, got 1"):
        make_ensemble(3, members, [1.0])
    with pytest.raises(ValueError, match="must sum to 1, got"):
        make_ensemble(3, members, [1.0, 1.0])
    with pytest.raises(ValueError, match="averaging must be one of .*, got 'mean'"):
        make_ensemble(3, members, [0.5, 0.5], averaging="mean")


def test_members_may_give_logits_alone_or_more_than_variances():
    def member(**options):
        return ed.layers.HeteroscedasticSNGPLayer(
            3, 2, num_inducing=8, compute_pred_variance=True, **options
        )

    for logits_only in (True, False):
        members = [member(logits_only=logits_only), member(logits_only=False)]
        layer = ed.layers.EnsembleHeteroscedasticOutputs(3, members, WEIGHTS)
        probs, variance = layer(INPUTS)[2:]
        np.testing.assert_allclose(tf.reduce_sum(probs, -1), np.ones(4), rtol=1e-5)
        assert (variance is None) == logits_only
