import numpy as np
import pytest
import tensorflow as tf

import bayes_rl as ed
from bayes_rl.layers.outputs.predictive_softmax import mean_field_logits

GENERATOR = np.random.default_rng(0)
DATA = GENERATOR.normal(size=[60, 2]).astype("float32")
TEST = GENERATOR.normal(size=[4, 2]).astype("float32")


def make(**kwargs):
    kwargs = {
        "num_inducing": 64,
        "normalize_input": False,
        "gp_cov_momentum": -1,
        "gp_cov_ridge_penalty": 0.1,
        **kwargs,
    }
    return ed.layers.RandomFeatureGaussianProcess(3, **kwargs)


def test_covariance_is_the_exact_inverse_on_its_features():
    layer = make(return_random_features=True)
    _, null, features = layer(DATA, training=True)
    np.testing.assert_array_equal(null, np.eye(60))
    logits, covariance, at_test = layer(TEST)
    precision = np.float64(features).T @ features + 0.1 * np.eye(64)
    expected = 0.1 * at_test.numpy() @ np.linalg.inv(precision) @ at_test.numpy().T
    np.testing.assert_allclose(covariance, expected, rtol=1e-3, atol=1e-6)
    kernel = layer.output_layer.kernel.numpy()
    np.testing.assert_allclose(logits, at_test @ kernel, rtol=1e-4, atol=1e-6)


def test_covariance_approximates_that_of_the_exact_process():
    tf.keras.utils.set_random_seed(0)
    layer = make(num_inducing=2048, gp_kernel_scale=2.0)
    layer(DATA, training=True)
    process = ed.layers.GaussianProcess(
        1,
        covariance_fn=ed.layers.ExponentiatedQuadratic(1.0, np.sqrt(2.0)),
        conditional_inputs=DATA,
        conditional_outputs=np.zeros([60, 1]),
        noise_variance=0.1,
    )
    np.testing.assert_allclose(layer(TEST)[1], process(TEST).covariance()[0], atol=0.03)


def test_covariance_grows_away_from_the_data():
    layer = make()
    layer(DATA, training=True)
    variance = np.diag(layer(np.array([[0.0, 0.0], [9.0, 9.0]], "float32"))[1])
    assert variance[1] > 5 * variance[0]
    layer.reset_covariance_matrix()
    prior = np.diag(layer(TEST)[1])
    assert np.all(abs(prior - 1.0) < 5 * np.sqrt(0.5 / 64))


def test_what_is_returned_can_be_chosen():
    (logits,) = make(return_gp_cov=False, gp_output_bias=2.0)(TEST)
    assert logits.shape == [4, 3]
    layer = make(gp_kernel_type="linear", return_random_features=True)
    np.testing.assert_allclose(layer(TEST)[2], TEST)
    assert np.all(make(gp_output_bias=2.0, kernel_initializer="zeros")(TEST)[0] == 2.0)


def test_options_of_the_features_are_used():
    layer = make(
        custom_random_features_initializer="ones",
        custom_random_features_activation="relu",
        scale_random_features=False,
        return_random_features=True,
    )
    features = layer(TEST)[2]
    expected = tf.nn.relu(TEST.sum(1, keepdims=True) + layer.random_features.phases)
    np.testing.assert_allclose(features, expected, rtol=1e-5, atol=1e-5)
    copy = ed.layers.RandomFeatureGaussianProcess.from_config(layer.get_config())
    copy(TEST)
    copy.set_weights(layer.get_weights())
    np.testing.assert_allclose(copy(TEST)[2], features)


def test_trainable_parts():
    assert len(make().trainable_weights) == 0
    layer = make(
        gp_kernel_scale_trainable=True, gp_output_bias_trainable=True, normalize_input=True
    )
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(layer(TEST, training=True)[0] ** 2)
    names = sorted(v.name.rpartition("/")[2] for v in layer.trainable_weights)
    assert names == ["beta:0", "bias:0", "gamma:0", "kernel:0", "kernel_scale:0"]
    assert all(x is not None for x in tape.gradient(loss, layer.trainable_weights))


def test_sngp_fits_labels():
    tf.keras.utils.set_random_seed(0)
    labels = (DATA[:, 0] * DATA[:, 1] > 0).astype("float32")[:, None]
    inputs = tf.keras.Input([2])
    hidden = ed.layers.SpectralNormalization(tf.keras.layers.Dense(32, "relu"))(inputs)
    logits, covariance = ed.layers.RandomFeatureGaussianProcess(
        1, num_inducing=64, gp_cov_momentum=0.9, l2_regularization=1e-4
    )(hidden)
    model = tf.keras.Model(inputs, [logits, covariance])
    optimizer = tf.keras.optimizers.Adam(0.03)

    @tf.function(autograph=False)
    def step():
        with tf.GradientTape() as tape:
            entropy = tf.nn.sigmoid_cross_entropy_with_logits(
                labels, model(DATA, training=True)[0]
            )
            loss = tf.reduce_mean(entropy) + tf.add_n(model.losses)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    losses = [float(step()) for _ in range(60)]
    assert losses[-1] < 0.5 * losses[0]
    adjusted = mean_field_logits(*model(DATA))
    assert np.mean((adjusted > 0) == (labels > 0.5)) > 0.85


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match="units must be at least 1, got 0"):
        ed.layers.RandomFeatureGaussianProcess(0)
    with pytest.raises(ValueError, match="gp_kernel_scale must be above 0, got -1.0"):
        ed.layers.RandomFeatureGaussianProcess(2, gp_kernel_scale=-1.0)
