import numpy as np
import pytest
import tensorflow as tf

import bayes_rl as ed

layers = ed.layers
keras = tf.keras.layers
MEMBERS = 3
VECTORS = {
    "ensemble_size": MEMBERS,
    "alpha_initializer": "random_normal",
    "gamma_initializer": "random_normal",
    "bias_initializer": "random_normal",
}


def pair(name, shape, *arguments, rank=1, **options):
    """A layer and the Keras layer of one of its members, on inputs of a shape."""
    own = {**VECTORS, **({"rank": rank} if rank > 1 else {})}
    layer = getattr(layers, f"{name}BatchEnsemble")(*arguments, **own, **options)
    inputs = tf.random.stateless_normal([2 * MEMBERS, *shape], [0, 1])
    return layer, getattr(keras, name)(*arguments, **options), inputs


CASES = {
    "dense": lambda: pair("Dense", [5], 4, activation="tanh"),
    "dense of rank 2": lambda: pair("Dense", [5], 4, rank=2),
    "dense over time": lambda: pair("Dense", [6, 7, 5], 4, rank=2),
    "conv1d": lambda: pair("Conv1D", [9, 5], 4, 3, padding="causal", dilation_rate=2),
    "conv2d": lambda: pair("Conv2D", [6, 7, 5], 4, 3, strides=2, padding="same"),
    "conv2d of rank 2": lambda: pair("Conv2D", [6, 7, 5], 4, 3, rank=2),
    "depthwise": lambda: pair("DepthwiseConv2D", [6, 7, 5], 3, depth_multiplier=2),
}


@pytest.mark.parametrize("make", CASES.values(), ids=CASES)
def test_each_member_equals_keras_with_the_multiplied_kernel(make):
    layer, reference, inputs = make()
    outputs = layer(inputs)
    kernel = getattr(layer, layer.kernel_key).numpy()
    alpha, gamma = (
        np.reshape(x.numpy(), [-1, *x.shape[-2:]]) for x in (layer.alpha, layer.gamma)
    )
    reference.build(inputs.shape)
    for member, part in enumerate(np.split(inputs, MEMBERS)):
        factors = np.einsum("ri,ro->io", alpha[:, member], gamma[:, member])
        if layer.kernel_key == "depthwise_kernel":
            channels = np.arange(kernel.shape[-2])
            beside = factors.reshape([*factors.shape[:1], *kernel.shape[-2:]])
            factors = beside[channels, channels]
        reference.set_weights([kernel * factors, layer.bias[member]])
        expected = reference(part)
        found = outputs[2 * member : 2 * member + 2]
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)


def test_a_members_gradients_are_those_of_its_examples():
    layer, _, inputs = CASES["conv2d"]()
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(layer(inputs)[:2])
    for gradient in tape.gradient(loss, [layer.alpha, layer.gamma, layer.bias]):
        assert np.all(gradient[0] != 0)
        assert np.all(gradient[1:] == 0)


def test_vectors_start_as_asked_for_by_name():
    layer = layers.DenseBatchEnsemble(
        5, alpha_initializer="ones", gamma_initializer=ed.initializers.RandomSign(0.5)
    )
    layer.build([None, 20])
    assert np.all(layer.alpha == 1)
    assert set(np.ravel(layer.gamma)) == {-1.0, 1.0}


def test_one_initializer_gives_each_vector_its_own_values():
    shared = tf.keras.initializers.RandomNormal(1.0, 0.5)
    found = []
    for _ in range(2):
        layer = layers.DenseBatchEnsemble(
            5, alpha_initializer=shared, gamma_initializer=shared
        )
        layer.build([None, 5])
        found += [layer.alpha.numpy(), layer.gamma.numpy()]
    for index, one in enumerate(found):
        assert all(np.all(one != other) for other in found[index + 1 :])


def test_a_posterior_is_drawn_once_a_call_for_each_member():
    posterior = ed.initializers.TrainableNormal(mean_initializer="ones")
    layer = layers.DenseBatchEnsemble(4, ensemble_size=2, alpha_initializer=posterior)
    outputs = layer(tf.ones([6, 3]))
    assert np.all(outputs[:3] == outputs[0])
    assert np.all(outputs[3:] == outputs[3])
    assert np.all(outputs[0] != outputs[3])
    assert np.all(outputs != layer(tf.ones([6, 3])))
    assert layer.losses == []


def test_draws_of_kernel_only_take_stacked_inputs():
    layer = layers.DenseBatchEnsemble(4, **VECTORS, kernel_initializer="trainable_normal")
    inputs = tf.random.stateless_normal([2, 6, 7, 5], [0, 1])
    layer.build(inputs.shape[1:])
    weights = ed.sample_weights(layer, [2], seed=1)
    with ed.hold(layer, weights):
        together = layer(inputs)
        shared = layer(inputs[0, :, 0])
    for draw in range(2):
        with ed.hold(layer, {name: value[draw] for name, value in weights.items()}):
            expected = layer(inputs[draw])
            np.testing.assert_allclose(together[draw], expected, rtol=1e-4, atol=1e-6)
            expected = layer(inputs[0, :, 0])
            np.testing.assert_allclose(shared[draw], expected, rtol=1e-4, atol=1e-6)


def test_a_batch_that_members_cannot_share_is_an_error():
    layer = layers.DenseBatchEnsemble(4)
    message = "the batch size must be a multiple of ensemble_size 4"
    with pytest.raises(ValueError, match=f"{message}, got 7"):
        layer(tf.ones([7, 3]))
    unknown = tf.function(layer, input_signature=[tf.TensorSpec([None, 3])])
    assert unknown(tf.ones([8, 3])).shape == [8, 4]
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        unknown(tf.ones([7, 3]))


def test_wrong_sizes_are_errors():
    with pytest.raises(ValueError, match="rank must be at least 1, got 0"):
        layers.DenseBatchEnsemble(4, rank=0)
    with pytest.raises(ValueError, match="ensemble_size must be at least 1, got 0"):
        layers.Conv1DBatchEnsemble(4, 3, ensemble_size=0)


def test_arguments_are_in_the_order_of_edward2():
    layer = layers.DenseBatchEnsemble(
        4, 2, 3, "relu", False, "random_sign", "zeros", "he_normal"
    )
    config = layer.get_config()
    assert (config["rank"], config["ensemble_size"], config["use_bias"]) == (2, 3, False)
    assert type(layer.alpha_initializer) is ed.initializers.RandomSign
    assert type(layer.kernel_initializer) is tf.keras.initializers.HeNormal
    layer = layers.Conv2DBatchEnsemble(4, 3, 2, 3, "ones", "zeros", (2, 2), "same")
    assert layer.get_config()["strides"] == (2, 2)
    layer = layers.DepthwiseConv2DBatchEnsemble(3, 2, "ones", "ones", (2, 2), "same", 5)
    assert layer.get_config()["depth_multiplier"] == 5


def test_posteriors_over_biases_start_as_deterministic_ones_do():
    layer = layers.DenseBatchEnsemble(
        1000, ensemble_size=4, bias_initializer="trainable_he_normal"
    )
    layer.build([None, 5])
    np.testing.assert_allclose(np.std(layer.bias.mean(), 1), np.sqrt(2 / 1000), rtol=0.1)
