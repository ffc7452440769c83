import numpy as np
import pytest
import tensorflow as tf

import bayes_rl as ed

INPUTS = np.array([[0.5, -1.0, 2.0], [1.5, 0.2, -0.4]], np.float32)
IMAGE = np.random.default_rng(0).normal(size=[2, 5, 5, 3]).astype(np.float32)


def wide_posterior():
    return ed.initializers.TrainableNormal("random_normal", "zeros")


def dense(**kwargs):
    kwargs.setdefault("kernel_initializer", wide_posterior())
    layer = ed.layers.DenseHierarchical(4, name="layer", **kwargs)
    layer.build([None, 3])
    return layer


def convolution(filters=4, **kwargs):
    kwargs.setdefault("kernel_initializer", wide_posterior())
    layer = ed.layers.Conv2DHierarchical(filters, 3, name="layer", **kwargs)
    layer.build([None, 5, 5, 3])
    return layer


def effective(weights, axis):
    """local_scale * global_scale * kernel, for one draw."""
    shape = [-1, 1] if axis == -2 else [-1]
    local = np.reshape(weights["layer/local_scale"], shape)
    return local * weights["layer/global_scale"].numpy() * weights["layer/kernel"].numpy()


def fixed_scales(local, everywhere):
    return {
        "local_scale_initializer": tf.keras.initializers.Constant(local),
        "global_scale_initializer": tf.keras.initializers.Constant(everywhere),
        "local_scale_constraint": None,
        "global_scale_constraint": None,
    }


@pytest.mark.parametrize("training", [False, True])
def test_held_dense_kernel_is_scaled_for_each_input(training):
    layer = dense()
    weights = ed.sample_weights(layer, seed=1)
    with ed.hold(layer, weights):
        outputs = layer(INPUTS, training=training)
    np.testing.assert_allclose(
        outputs, INPUTS @ effective(weights, -2), rtol=1e-5, atol=1e-6
    )


@pytest.mark.parametrize("training", [False, True])
def test_held_convolution_kernel_is_scaled_for_each_filter(training):
    layer = convolution()
    weights = ed.sample_weights(layer, seed=1)
    with ed.hold(layer, weights):
        outputs = layer(IMAGE, training=training)
    expected = tf.nn.conv2d(IMAGE, effective(weights, -1), 1, "VALID")
    np.testing.assert_allclose(outputs, expected, rtol=1e-4, atol=1e-6)


def test_many_held_draws_scale_their_own_kernels():
    for make, inputs in ((dense, INPUTS), (convolution, IMAGE)):
        layer = make()
        weights = ed.sample_weights(layer, [3], seed=1)
        with ed.hold(layer, weights):
            together = layer(inputs)
        for draw in range(3):
            with ed.hold(layer, {name: value[draw] for name, value in weights.items()}):
                np.testing.assert_allclose(
                    together[draw], layer(inputs), rtol=1e-4, atol=1e-6
                )


def test_training_outputs_have_the_moments_of_the_scaled_kernel():
    local = [0.5, 2.0, 3.0]
    layer = dense(**fixed_scales(local, 0.1))
    outputs = layer(INPUTS, training=True)
    scaled = INPUTS * np.array(local, np.float32) * 0.1
    np.testing.assert_allclose(outputs.mean(), scaled @ layer.kernel.mean(), atol=1e-6)
    np.testing.assert_allclose(
        outputs.variance(), scaled**2 @ layer.kernel.variance(), rtol=1e-5
    )


def test_convolution_has_the_mean_and_variance_of_the_scaled_kernel():
    count = 4000  # filters of each scale, drawn on their own
    local = np.repeat(np.array([0.0, 0.5, 1.0, 3.0], np.float32), count)
    layer = convolution(filters=local.size, use_bias=False, **fixed_scales(local, 0.1))
    image = IMAGE[:1, :3, :3]
    draws = layer(image, training=True)[0, 0, 0].numpy()
    mean = 0.1 * local * tf.nn.conv2d(image, layer.kernel.mean(), 1, "VALID")[0, 0, 0]
    variance = tf.nn.conv2d(image**2, layer.kernel.variance(), 1, "VALID")[0, 0, 0]
    stddev = 0.1 * local * np.sqrt(variance)
    assert np.all(draws[:count] == 0.0)
    errors = ((draws - mean)[count:] / stddev[count:]).numpy().reshape([3, count])
    assert np.all(abs(errors.mean(1)) < 5 / np.sqrt(count))
    assert np.all(abs(errors.var(1) - 1) < 5 * np.sqrt(2 / count))


def test_scales_are_drawn_anew_at_every_call():
    layer = dense(kernel_initializer="ones", kernel_regularizer=None)
    first, second = (layer(INPUTS) for _ in range(2))
    assert not np.any(first == second)


@pytest.mark.parametrize(("make", "inputs"), [(dense, INPUTS), (convolution, IMAGE)])
def test_mean_at_test_time_uses_the_medians_of_the_scales(make, inputs):
    layer = make(at_test="mean")
    weights = ed.mean_weights(layer)
    medians = layer.local_scale.distribution.distribution.quantile(0.5)
    np.testing.assert_array_equal(weights["layer/local_scale"], medians)
    with ed.hold(layer, weights):
        expected = layer(inputs)
    np.testing.assert_array_equal(layer(inputs), expected)
    assert np.any(layer(inputs, training=True) != expected)


@pytest.mark.parametrize("make", [dense, convolution])
def test_deterministic_scales_are_constrained_on_use_and_cost_their_prior(make):
    layer = make(local_scale_initializer="zeros", global_scale_initializer="ones")
    local, everywhere = np.log(2.0), np.log1p(np.e)
    size = layer.local_scale.shape[0]
    np.testing.assert_allclose(np.unique(layer.scale()), local * everywhere, rtol=1e-5)

    def cost(scale, prior):
        return np.log(np.pi * prior / 2) + np.log1p((scale / prior) ** 2)

    costs = sorted(float(x) for x in layer.losses)
    expected = sorted([size * cost(local, 1.0), cost(everywhere, 1e-5)])
    assert len(costs) == 3
    for value in expected:
        assert np.min(np.abs(np.array(costs) - value)) < 1e-3


@pytest.mark.parametrize("make", [dense, convolution])
def test_configuration_keeps_the_scales_and_their_priors(make):
    prior = ed.regularizers.HalfCauchyKLDivergence(scale=0.5)
    layer = make(global_scale_regularizer=prior, at_test="mean")
    copy = type(layer).from_config(layer.get_config())
    assert copy.get_config() == layer.get_config()
    assert copy.global_scale_regularizer.scale == 0.5
    assert copy.at_test == "mean"


def test_default_prior_of_the_global_scale_is_narrow():
    assert dense().global_scale_regularizer.scale == 1e-5


@pytest.mark.parametrize(("make", "inputs"), [(dense, INPUTS), (convolution, IMAGE)])
def test_gradients_reach_every_element_and_are_finite(make, inputs):
    layer = make()
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(layer(inputs, training=True) ** 2) + tf.add_n(layer.losses)
    gradients = tape.gradient(loss, layer.trainable_variables)
    assert all(np.all(np.isfinite(x) & (x != 0)) for x in gradients)


@pytest.mark.parametrize(("make", "inputs"), [(dense, INPUTS), (convolution, IMAGE)])
def test_number_of_held_draws_may_be_unknown(make, inputs):
    layer = make()
    weights = ed.sample_weights(layer, [3], seed=1)
    unknown = {name: tf.TensorSpec([None, *x.shape[1:]]) for name, x in weights.items()}

    @tf.function(input_signature=[unknown])
    def call(weights):
        with ed.hold(layer, weights):
            return layer(inputs)

    with ed.hold(layer, weights):
        np.testing.assert_allclose(call(weights), layer(inputs), rtol=1e-4, atol=1e-6)


def test_costs_of_certain_scales_are_scaled_and_end_where_the_layer_is_frozen():
    layer = dense(**fixed_scales(0.5, 2.0))
    before = [float(loss) for loss in layer.losses]
    assert len(before) == 3
    ed.scale_kl(layer, 0.01)
    after = [float(loss) for loss in layer.losses]
    np.testing.assert_allclose(after, 0.01 * np.array(before), rtol=1e-5)
    layer.trainable = False
    assert [float(loss) for loss in layer.losses] == []
