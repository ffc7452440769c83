import numpy as np
import pytest
import tensorflow as tf

import bayes_rl as ed

layers = ed.layers
keras = tf.keras.layers
EXPERTS = 3
ROUTING = tf.random.stateless_normal([4, EXPERTS], [0, 2])


def pair(name, plain, shape, *arguments, **options):
    """A layer and the Keras layer of one of its examples, on inputs of a shape."""
    own = {"num_experts": EXPERTS, "bias_initializer": "random_normal"}
    layer = getattr(layers, name)(*arguments, **own, **options)
    inputs = tf.random.stateless_normal([4, *shape], [0, 1])
    return layer, getattr(keras, plain)(*arguments, **options), inputs


def image(**options):
    return pair("CondConv2D", "Conv2D", [6, 7, 3], 5, 3, **options)


def depthwise(**options):
    return pair("DepthwiseCondConv2D", "DepthwiseConv2D", [6, 7, 3], 3, **options)


CASES = {
    "dense": lambda: pair("CondDense", "Dense", [3], 5, activation="tanh"),
    "dense over time": lambda: pair("CondDense", "Dense", [6, 7, 3], 5),
    "dense of one unit": lambda: pair("CondDense", "Dense", [3], 1, use_bias=False),
    "conv": lambda: image(activation="tanh"),
    "conv with strides": lambda: image(strides=(2, 3), padding="same"),
    "dilated conv": lambda: image(dilation_rate=2, use_bias=False),
    "depthwise": lambda: depthwise(depth_multiplier=2, padding="same"),
    "depthwise with strides": lambda: depthwise(strides=2),
}


@pytest.mark.parametrize("make", CASES.values(), ids=CASES)
def test_each_example_equals_keras_with_the_mixed_kernel(make):
    layer, reference, inputs = make()
    outputs = layer(inputs, ROUTING)
    reference.build(inputs.shape)
    for example in range(4):
        mixed = [
            tf.reshape(tf.tensordot(ROUTING[example], weight, 1), plain.shape)
            for weight, plain in zip(layer.weights, reference.weights, strict=True)
        ]
        reference.set_weights(mixed)
        expected = reference(inputs[example : example + 1])
        found = outputs[example : example + 1]
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["conv", "depthwise", "dense"])
def test_any_batch_size_is_one_function(name):
    layer, _, inputs = CASES[name]()
    expected = layer(inputs, ROUTING)
    shape = [None] * len(inputs.shape[:-1]) + [3]
    unknown = tf.function(
        layer, input_signature=[tf.TensorSpec(shape), tf.TensorSpec([None, EXPERTS])]
    )
    for size in (1, 4):
        found = unknown(inputs[:size], ROUTING[:size])
        np.testing.assert_allclose(found, expected[:size], rtol=1e-5, atol=1e-6)


def test_channels_may_be_first():
    last, _, inputs = CASES["conv"]()
    first, _, _ = image(activation="tanh", data_format="channels_first")
    first.build([None, 3, 6, 7])
    expected = last(inputs, ROUTING)
    first.set_weights(last.get_weights())
    found = first(tf.transpose(inputs, [0, 3, 1, 2]), ROUTING)
    found = tf.transpose(found, [0, 2, 3, 1])
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_the_batch_size_of_edward2_is_taken_and_not_needed():
    for layer in (layers.CondConv2D(5, 3, 2, 64, (2, 2)), layers.CondConv2D(5, 3, 2)):
        outputs = layer(tf.ones([4, 9, 9, 3]), tf.ones([4, 2]))
        assert outputs.shape[0] == 4
    assert layers.CondConv2D(5, 3, 2, 64, (2, 2)).strides == (2, 2)


def test_experts_start_apart_and_with_fans_of_their_own():
    layer = layers.CondConv2D(64, 3, 4, kernel_initializer="he_normal")
    layer.build([None, 5, 5, 32])
    rows = layer.kernel.numpy()
    np.testing.assert_allclose(rows.std(1), np.sqrt(2 / (9 * 32)), rtol=0.05)
    assert abs(np.corrcoef(rows)[0, 1]) < 5 / np.sqrt(rows.shape[1])


WIDE = {
    "dense": (lambda **options: layers.CondDense(64, 4, **options), [None, 100]),
    "conv": (lambda **options: layers.CondConv2D(64, 3, 4, **options), [None, 5, 5, 32]),
    "depthwise": (
        lambda **options: layers.DepthwiseCondConv2D(3, 4, **options),
        [None, 5, 5, 100],
    ),
}


def wide(kind, **options):
    """A layer with many weights, given options of its kernel."""
    make, shape = WIDE[kind]
    key = "depthwise" if kind == "depthwise" else "kernel"
    options = {f"{key}_{name}": value for name, value in options.items()}
    layer = make(**options, name="layer")
    layer.build(shape)
    return layer


def kernel_of(layer):
    return getattr(layer, layer.kernel_key)


@pytest.mark.parametrize("start", ["he_normal", "glorot_normal"])
@pytest.mark.parametrize("kind", WIDE)
def test_posteriors_start_as_deterministic_experts_do(kind, start):
    plain = kernel_of(wide(kind, initializer=start)).numpy()
    means = kernel_of(wide(kind, initializer=f"trainable_{start}")).mean().numpy()
    np.testing.assert_allclose(means.std(1), plain.std(1), rtol=0.15)
    assert abs(np.corrcoef(means)[0, 1]) < 5 / np.sqrt(means.shape[1])


def test_points_of_a_mixture_start_with_the_fans_of_an_expert():
    points = wide("dense", initializer="trainable_mixture_of_deltas").kernel_initializer.loc
    np.testing.assert_allclose(np.std(points, axis=(1, 2)), np.sqrt(2 / 100), rtol=0.05)


def test_seeded_posteriors_start_alike_and_their_experts_apart():
    first, second = (
        wide("dense", initializer=ed.initializers.TrainableHeNormal(seed=1))
        for _ in range(2)
    )
    means = first.kernel.mean().numpy()
    np.testing.assert_array_equal(means, second.kernel.mean())
    assert abs(np.corrcoef(means)[0, 1]) < 5 / np.sqrt(means.shape[1])


@pytest.mark.parametrize("kind", WIDE)
def test_scaled_stddevs_of_posterior_and_prior_are_those_of_an_expert(kind):
    scaled = ed.initializers.ScaledNormalStdDev(distribution="constant")
    shape = kernel_of(wide(kind)).shape
    expert = {"dense": [100, 64], "conv": [3, 3, 32, 64], "depthwise": [3, 3, 100, 1]}[kind]
    stddev = np.ravel(scaled(expert))[0]
    posterior = ed.initializers.TrainableNormal("zeros", scaled)
    prior = ed.regularizers.NormalKLDivergence(stddev=scaled)
    layer = wide(kind, initializer=posterior, regularizer=prior)
    np.testing.assert_allclose(kernel_of(layer).stddev(), np.full(shape, stddev), rtol=1e-4)
    np.testing.assert_allclose(layer.losses, [0.0], atol=1e-2)
    copy = type(layer).from_config(layer.get_config())
    copy.build(WIDE[kind][1])
    np.testing.assert_allclose(kernel_of(copy).stddev(), kernel_of(layer).stddev())


def test_a_posterior_over_experts_is_held_in_draws():
    layer = layers.CondConv2D(5, 3, 2, kernel_initializer="trainable_he_normal")
    inputs = tf.random.stateless_normal([4, 6, 6, 3], [0, 1])
    layer.build(inputs.shape)
    weights = ed.sample_weights(layer, [2], seed=1)
    with ed.hold(layer, weights):
        shared = layer(inputs, ROUTING[:, :2])
    for draw in range(2):
        with ed.hold(layer, {name: value[draw] for name, value in weights.items()}):
            expected = layer(inputs, ROUTING[:, :2])
        np.testing.assert_allclose(shared[draw], expected, rtol=1e-4, atol=1e-6)


def test_wrong_arguments_are_errors():
    with pytest.raises(ValueError, match="num_experts must be at least 1, got 0"):
        layers.CondDense(4, num_experts=0)
    with pytest.raises(ValueError, match=r"shape \[..., 2\].*got \(4, 3\)"):
        layers.CondDense(4, num_experts=2)(tf.ones([4, 3]), tf.ones([4, 3]))
    with pytest.raises(ValueError, match="groups must be 1, got 3"):
        layers.CondConv2D(6, 3, 2, groups=3)(tf.ones([4, 5, 5, 3]), tf.ones([4, 2]))


@pytest.mark.parametrize("draws", [2, 4])
@pytest.mark.parametrize("shape", [(4, 5), (4, 6, 5)])
@pytest.mark.parametrize("is_paired", [False, True])
def test_each_draw_routes_each_example(draws, shape, is_paired):
    options = {"kernel_initializer": wide_posterior(), "bias_initializer": wide_posterior()}
    layer = layers.CondDense(2, num_experts=EXPERTS, **options)
    inputs = tf.random.stateless_normal([draws, *shape], [0, 1])
    inputs = inputs if is_paired else inputs[0]
    layer(inputs[0] if is_paired else inputs, ROUTING)
    weights = ed.sample_weights(layer, [draws], seed=1)
    with ed.hold(layer, weights):
        together = layer(inputs, ROUTING)
    for draw in range(draws):
        with ed.hold(layer, {name: value[draw] for name, value in weights.items()}):
            alone = layer(inputs[draw] if is_paired else inputs, ROUTING)
        np.testing.assert_allclose(together[draw], alone, atol=1e-5)


def wide_posterior():
    return ed.initializers.TrainableNormal(mean_initializer="random_normal")
