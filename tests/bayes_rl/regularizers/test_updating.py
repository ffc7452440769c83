import numpy as np
import pytest
import tensorflow as tf
from tensorflow_probability import distributions as tfd

import bayes_rl as ed

POSTERIORS = [
    "trainable_normal",
    "trainable_normal_shared_stddev",
    "trainable_log_normal",
    "trainable_cauchy",
]
PRIORS = {
    "trainable_log_normal": "log_normal_kl_divergence",
    "trainable_cauchy": "cauchy_kl_divergence",
}


def make(initializer="trainable_normal", **kwargs):
    options = {"kernel_regularizer": PRIORS.get(initializer, "normal_kl_divergence")}
    layer = ed.layers.DenseReparameterization(
        4, kernel_initializer=initializer, name="dense", **{**options, **kwargs}
    )
    return tf.keras.Sequential([tf.keras.Input([3]), layer])


@pytest.mark.parametrize("initializer", POSTERIORS)
def test_prior_is_the_posterior_at_the_time(initializer):
    model = make(initializer)
    for shift in (0.3, 0.2):  # the second call only assigns
        ed.regularizers.set_prior_to_posterior(model)
        (layer,) = model.layers
        regularizer = layer.kernel_regularizer
        np.testing.assert_allclose(model.losses[0], 0.0, atol=1e-5)
        before = layer.kernel_initializer.parameters()
        for variable in layer.kernel_initializer.trainable_weights:
            variable.assign_add(tf.fill(variable.shape, shift))
        family = type(layer.kernel.distribution.distribution)
        after = layer.kernel_initializer.parameters()
        expected = tfd.kl_divergence(family(*after), family(*before))
        np.testing.assert_allclose(model.losses[0], tf.reduce_sum(expected), rtol=1e-4)
    ed.regularizers.set_prior_to_posterior(model)
    assert layer.kernel_regularizer is regularizer


def test_kept_prior_is_not_trained_but_saved(tmp_path):
    model = make()
    count = len(model.trainable_weights)
    ed.regularizers.set_prior_to_posterior(model)
    assert len(model.trainable_weights) == count
    model.layers[0].kernel_initializer.mean.assign_add(tf.ones([3, 4]))
    model.save(tmp_path / "model.keras")
    loaded = tf.keras.models.load_model(tmp_path / "model.keras")
    assert model.losses[0] > 100
    np.testing.assert_allclose(loaded.losses[0], model.losses[0], rtol=1e-6)


def test_cell_whose_kernels_shared_a_regularizer(tmp_path):
    shared = ed.regularizers.NormalKLDivergence(stddev=0.5)
    cell = ed.layers.LSTMCellReparameterization(
        2, kernel_regularizer=shared, recurrent_regularizer=shared
    )
    model = tf.keras.Sequential([tf.keras.Input([5, 3]), tf.keras.layers.RNN(cell)])
    ed.regularizers.set_prior_to_posterior(model)
    np.testing.assert_allclose(model.losses, [0.0, 0.0], atol=1e-6)
    cell.kernel_initializer.mean.assign_add(tf.ones([3, 8]))
    model.save(tmp_path / "model.keras")
    loaded = tf.keras.models.load_model(tmp_path / "model.keras")
    assert model.losses[0] > 100
    np.testing.assert_allclose(loaded.losses, model.losses, rtol=1e-6)


def test_fit_sees_the_new_prior():
    regularizer = ed.regularizers.NormalKLDivergence(mean=5.0, scale_factor=0.5)
    model = make(kernel_regularizer=regularizer)
    model.compile(tf.keras.optimizers.SGD(0.0), lambda labels, outputs: 0.0 * outputs)
    data = np.ones([4, 3]), np.ones([4, 4])
    (before,) = model.fit(*data, verbose=0).history["loss"]
    assert before > 10
    ed.regularizers.set_prior_to_posterior(model)
    (after,) = model.fit(*data, verbose=0).history["loss"]
    np.testing.assert_allclose(after, 0.0, atol=1e-5)
    assert model.layers[0].kernel_regularizer.scale_factor == 0.5


def test_two_updates_are_one_update_with_all_data():
    """Conjugate regression: the second posterior equals that of both halves of data."""
    inputs = np.random.default_rng(0).normal(size=[20, 3]).astype(np.float32)
    targets = inputs @ np.array([[1.0], [-2.0], [0.5]], np.float32)
    regularizer = ed.regularizers.NormalKLDivergence(stddev=2.0)
    layer = ed.layers.DenseReparameterization(
        1, use_bias=False, kernel_regularizer=regularizer
    )
    layer.build([None, 3])

    def fit(inputs, targets):
        """Minimizes the exact negative evidence bound, noise variance 1."""
        optimizer = tf.keras.optimizers.Adam(0.05)

        @tf.function
        def step():
            with tf.GradientTape() as tape:
                mean, stddev = layer.kernel_initializer.parameters()
                residual = targets - inputs @ mean
                spread = tf.square(inputs) @ tf.square(stddev)
                loss = 0.5 * tf.reduce_sum(residual**2 + spread) + layer.losses[0]
            variables = layer.kernel_initializer.trainable_weights
            optimizer.apply_gradients(
                zip(tape.gradient(loss, variables), variables, strict=True)
            )

        for _ in range(400):
            step()

    # Orthogonal inputs, so that the factorized posterior is the exact one.
    inputs[:10], inputs[10:] = (np.linalg.qr(x)[0] * 2 for x in (inputs[:10], inputs[10:]))
    targets = inputs @ np.array([[1.0], [-2.0], [0.5]], np.float32)
    fit(inputs[:10], targets[:10])
    ed.regularizers.set_prior_to_posterior(layer)
    fit(inputs[10:], targets[10:])
    precision = inputs.T @ inputs + np.eye(3) / 4
    mean, stddev = layer.kernel_initializer.parameters()
    np.testing.assert_allclose(
        mean, np.linalg.solve(precision, inputs.T @ targets), atol=1e-3
    )
    np.testing.assert_allclose(stddev[:, 0], np.diag(precision) ** -0.5, rtol=1e-2)


def test_weights_without_a_cost_are_left():
    model = make(kernel_regularizer=None)
    ed.regularizers.set_prior_to_posterior(model)
    assert model.losses == []
    with pytest.raises(ValueError, match="'dense/kernel' was built without a regularizer"):
        model.layers[0].set_regularizer("kernel", "normal_kl_divergence")
