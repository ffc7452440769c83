import numpy as np
import pytest
import tensorflow as tf

import bayes_rl as ed

KERNEL = np.random.default_rng(0).normal(size=[5, 4]).astype("float32")


def dense(kernel=KERNEL, **kwargs):
    initializer = tf.keras.initializers.Constant(kernel)
    return tf.keras.layers.Dense(
        kernel.shape[1], kernel_initializer=initializer, bias_initializer="ones", **kwargs
    )


def trained(layer, inputs, steps=60):
    for _ in range(steps):
        layer(inputs, training=True)
    return layer


def test_dense_kernel_has_the_spectral_norm_of_the_bound():
    wrapped = dense(activation="tanh")
    layer = trained(ed.layers.SpectralNormalization(wrapped), tf.eye(5))
    kernel = 0.95 * KERNEL / np.linalg.norm(KERNEL, 2)
    np.testing.assert_allclose(layer.update_weights(training=False), kernel, rtol=1e-4)
    np.testing.assert_allclose(layer(tf.eye(5)), np.tanh(kernel + 1.0), rtol=1e-4)
    np.testing.assert_array_equal(wrapped.kernel, KERNEL)


def test_kernel_within_the_bound_is_used_as_it_is():
    layer = trained(ed.layers.SpectralNormalization(dense(0.01 * KERNEL)), tf.eye(5))
    np.testing.assert_allclose(layer(tf.eye(5)), 0.01 * KERNEL + 1.0, rtol=1e-6)


def test_gradient_is_that_of_kernel_over_its_norm():
    wrapped = dense()
    layer = trained(ed.layers.SpectralNormalization(wrapped), tf.eye(5))
    weights = tf.constant(np.random.default_rng(1).normal(size=[5, 4]), tf.float32)

    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(weights * layer(tf.eye(5), training=False))
    ours = tape.gradient(loss, wrapped.kernel)
    kernel = tf.Variable(KERNEL)
    with tf.GradientTape() as tape:
        norm = tf.linalg.svd(kernel, compute_uv=False)[0]
        loss = tf.reduce_sum(weights * 0.95 * kernel / norm)
    np.testing.assert_allclose(ours, tape.gradient(loss, kernel), rtol=1e-3, atol=1e-4)


def test_gradient_takes_the_singular_vectors_as_constants():
    """Far from convergence too: d(cW/s) is c/s (G - <G, W> u v' / s), s = u' W v."""
    tf.keras.utils.set_random_seed(0)
    wrapped = dense()
    layer = ed.layers.SpectralNormalization(wrapped)
    layer.build([None, 5])
    slope = np.random.default_rng(1).normal(size=[5, 4])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.constant(slope, tf.float32) * layer.update_weights())
    u = layer.u.numpy()
    v = u @ KERNEL
    norm = np.linalg.norm(v)
    assert norm < 0.995 * np.linalg.norm(KERNEL, 2)
    outer = u.T @ v / norm
    expected = 0.95 / norm * (slope - np.sum(slope * KERNEL) * outer / norm)
    np.testing.assert_allclose(tape.gradient(loss, wrapped.kernel), expected, rtol=1e-4)


def test_more_iterations_converge_faster():
    def error(iteration):
        tf.keras.utils.set_random_seed(0)
        layer = ed.layers.SpectralNormalization(dense(), iteration=iteration)
        layer(tf.eye(5))
        kernel = layer.update_weights(training=False)
        return abs(np.linalg.norm(kernel, 2) - 0.95)

    assert error(10) < 0.1 * error(1)


def test_evaluation_changes_nothing():
    layer = ed.layers.SpectralNormalization(dense())
    layer(tf.eye(5))
    before = layer.get_weights()
    layer(tf.eye(5), training=False)
    frozen = ed.layers.SpectralNormalization(dense(), training=False)
    frozen(tf.eye(5))
    first = frozen.u.numpy()
    frozen(tf.eye(5))
    np.testing.assert_array_equal(frozen.u, first)
    for ours, theirs in zip(layer.get_weights(), before, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def map_of(layer, shape):
    """Matrix of the linear map from images to images."""
    count = int(np.prod(shape))
    basis = tf.reshape(tf.eye(count), [count, *shape])
    outputs = layer(basis, training=False) - layer(0 * basis, training=False)
    return tf.reshape(outputs, [count, -1]).numpy()


@pytest.mark.parametrize(
    ("strides", "padding", "dilation"), [(1, "same", 1), (2, "valid", 1), (1, "same", 2)]
)
def test_map_of_images_has_the_spectral_norm_of_the_bound(strides, padding, dilation):
    wrapped = tf.keras.layers.Conv2D(3, 3, strides, padding, dilation_rate=dilation)
    layer = ed.layers.SpectralNormalizationConv2D(
        wrapped, iteration=50, norm_multiplier=0.5
    )
    inputs = tf.ones([2, 6, 7, 2])
    wrapped.build(inputs.shape)
    wrapped.set_weights([2.0 * x for x in wrapped.get_weights()])
    trained(layer, inputs, steps=8)
    np.testing.assert_allclose(np.linalg.norm(map_of(layer, [6, 7, 2]), 2), 0.5, rtol=1e-2)
    np.testing.assert_allclose(
        layer(inputs, training=False).shape, wrapped.compute_output_shape(inputs.shape)
    )


def test_kernel_matrix_of_a_convolution():
    wrapped = tf.keras.layers.Conv1D(4, 3, padding="same", kernel_initializer="he_normal")
    layer = trained(
        ed.layers.SpectralNormalization(wrapped, norm_multiplier=0.1), tf.ones([1, 8, 2])
    )
    kernel = layer.update_weights(training=False).numpy()
    np.testing.assert_allclose(np.linalg.norm(kernel.reshape([6, 4]), 2), 0.1, rtol=1e-3)


def test_configuration_and_name():
    layer = ed.layers.SpectralNormalization(
        dense(name="hidden"), 2, 0.7, False, inhere_layer_name=True
    )
    assert layer.name == "hidden"
    copy = ed.layers.SpectralNormalization.from_config(layer.get_config())
    assert copy.get_config() == layer.get_config()
    assert (copy.iteration, copy.norm_multiplier) == (2, 0.7)
    assert copy.aggregation is tf.VariableAggregation.MEAN


def test_errors():
    for wrong in (
        tf.keras.layers.Conv2DTranspose(2, 3),
        tf.keras.layers.DepthwiseConv2D(3),
        tf.keras.layers.Conv2D(4, 3, groups=2),
        tf.keras.layers.LSTM(2),
        ed.layers.DenseFlipout(2),
    ):
        with pytest.raises(TypeError, match=f"wraps a Dense .* got {type(wrong).__name__}"):
            ed.layers.SpectralNormalization(wrong)
    with pytest.raises(TypeError, match="wraps a Conv2D layer .* got Dense"):
        ed.layers.SpectralNormalizationConv2D(dense())
    with pytest.raises(ValueError, match="iteration must be at least 1, got 0"):
        ed.layers.SpectralNormalization(dense(), iteration=0)
    with pytest.raises(ValueError, match="norm_multiplier must be above 0, got 0"):
        ed.layers.SpectralNormalization(dense(), norm_multiplier=0)
    with pytest.raises(ValueError, match="needs images of a known size"):
        ed.layers.SpectralNormalizationConv2D(tf.keras.layers.Conv2D(2, 3))(
            tf.keras.Input([None, 4, 1])
        )


def test_gradient_at_a_kernel_of_zeros_is_that_of_the_plain_layer():
    layer = ed.layers.SpectralNormalization(dense(0.0 * KERNEL))
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(layer(tf.eye(5)))
    gradient = tape.gradient(loss, layer.layer.kernel)
    np.testing.assert_array_equal(gradient, np.ones([5, 4]))


def test_causal_convolution_keeps_the_length():
    wrapped = tf.keras.layers.Conv1D(4, 3, padding="causal", dilation_rate=2)
    layer = ed.layers.SpectralNormalization(wrapped, norm_multiplier=100.0)
    inputs = tf.random.stateless_normal([2, 9, 3], [0, 1])
    np.testing.assert_allclose(layer(inputs), wrapped(inputs), rtol=1e-5, atol=1e-6)


def test_layers_that_compute_something_else_are_refused():
    class Scaled(tf.keras.layers.Dense):
        def call(self, inputs):
            return 2.0 * super().call(inputs)

    with pytest.raises(TypeError, match="wraps a Dense .* got Scaled"):
        ed.layers.SpectralNormalization(Scaled(2))


@pytest.mark.parametrize("is_copy", [False, True])
def test_activity_regularizer_of_the_layer_costs(is_copy):
    wrapped = dense(0.01 * KERNEL, activity_regularizer=tf.keras.regularizers.L2(0.5))
    layer = ed.layers.SpectralNormalization(wrapped)
    if is_copy:
        layer = ed.layers.SpectralNormalization.from_config(layer.get_config())
    outputs = layer(tf.eye(5))
    expected = 0.5 * np.sum(np.square(outputs)) / 5  # Keras divides by the batch size
    np.testing.assert_allclose(layer.losses, [expected], rtol=1e-5)
