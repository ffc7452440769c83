import numpy as np
import pytest
import tensorflow as tf

import bayes_rl as ed

layers = ed.layers
POSTERIOR = ed.initializers.TrainableNormal(
    mean_initializer="ones", stddev_initializer="zeros"
)
WIDE = {"alpha_initializer": POSTERIOR, "gamma_initializer": POSTERIOR}
NO_LIMITS = {"min_perturbation_value": -100, "max_perturbation_value": 100}
COUNT = 20_000

LAYERS = {
    "dense": (lambda **kw: layers.DenseRank1(2, **kw), [3]),
    "conv1d": (lambda **kw: layers.Conv1DRank1(2, 3, **kw), [4, 3]),
    "conv2d": (lambda **kw: layers.Conv2DRank1(2, 2, **kw), [3, 3, 3]),
}


def moments(layer, key):
    posterior = ed.posteriors(layer)[f"{layer.name}/{key}"]
    return posterior.mean()[0].numpy(), posterior.variance()[0].numpy()


def of_channels(layer, inputs):
    """Products of each channel alone with the kernel, [channels, ..., units]."""
    eye = np.eye(inputs.shape[-1], dtype=np.float32)
    alone = [layer.product(inputs * channel, layer.kernel) for channel in eye]
    return np.stack(alone)[:, 0]


@pytest.mark.parametrize("additive", [False, True])
@pytest.mark.parametrize("name", LAYERS)
def test_mean_and_variance_are_those_of_the_vectors(name, additive):
    make, shape = LAYERS[name]
    tf.random.set_seed(1)
    layer = make(use_additive_perturbation=additive, **WIDE, **NO_LIMITS)
    inputs = tf.random.stateless_normal([1, *shape], [0, 1])
    layer.build(inputs.shape)
    outputs = layer(tf.repeat(inputs, COUNT, axis=0)).numpy()
    mean, variance = moments(layer, "alpha")
    after_mean, after_variance = moments(layer, "gamma")
    noisy = of_channels(layer, tf.ones_like(inputs) if additive else inputs)
    product = np.einsum("i,i...->...", mean, noisy)
    spread = np.einsum("i,i...->...", variance, noisy**2)
    if additive:
        expected = layer.product(inputs, layer.kernel)[0] + product + after_mean
        total = spread + after_variance
    else:
        expected = product * after_mean
        total = (product**2 + spread) * (after_mean**2 + after_variance) - expected**2
    assert np.all(abs(outputs.mean(0) - expected) < 5 * np.sqrt(total / COUNT))
    ratio = outputs.var(0) / total
    np.testing.assert_allclose(ratio, 1.0, atol=0.1)
    np.testing.assert_allclose(ratio.mean(), 1.0, atol=0.05)


def test_equal_examples_have_independent_vectors():
    layer = layers.DenseRank1(1, ensemble_size=2, **WIDE)
    outputs = layer(tf.ones([40_000, 3])).numpy().reshape([2, -1])
    for member in outputs:
        neighbours = np.corrcoef(member[:-1], member[1:])[0, 1]
        assert abs(neighbours) < 5 / np.sqrt(20_000)


@pytest.mark.parametrize("additive", [False, True])
def test_held_vectors_are_those_of_the_members_examples(additive):
    layer = layers.Conv2DRank1(
        2,
        3,
        ensemble_size=2,
        use_additive_perturbation=additive,
        bias_initializer="random_normal",
        **WIDE,
    )
    inputs = tf.random.stateless_normal([6, 5, 5, 3], [0, 1])
    layer.build(inputs.shape)
    weights = ed.sample_weights(layer, seed=1)
    with ed.hold(layer, weights):
        outputs = layer(inputs)
    alpha, gamma = (weights[f"{layer.name}/{key}"] for key in ("alpha", "gamma"))
    join = tf.add if additive else tf.multiply
    for member, part in enumerate(tf.split(inputs, 2)):
        product = tf.nn.conv2d(join(part, alpha[member]), layer.kernel, 1, "VALID")
        expected = join(product, gamma[member]) + layer.bias[member]
        found = outputs[3 * member : 3 * member + 3]
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_examples_draw_from_the_posterior_of_their_member():
    layer = layers.DenseRank1(
        1, ensemble_size=2, kernel_initializer="ones", gamma_initializer="ones"
    )
    layer.build([None, 1])
    layer.alpha_initializer.assign(mean=[[-3.0], [5.0]], stddev=0.1)
    outputs = layer(tf.ones([10, 1])).numpy().ravel()
    np.testing.assert_allclose(outputs, [-3.0] * 5 + [5.0] * 5, atol=1.0)


def test_members_have_initial_values_of_their_own():
    layer = layers.DenseRank1(4, ensemble_size=2, bias_initializer="random_normal")
    layer.build([None, 4])
    for values in (layer.alpha_initializer.mean, layer.gamma_initializer.mean, layer.bias):
        assert np.all(values[0] != values[1])


def test_equals_keras_where_the_vectors_are_ones():
    inputs = tf.random.stateless_normal([4, 6, 3], [0, 1])
    limits = {"min_perturbation_value": 1, "max_perturbation_value": 1}
    vectors = {"alpha_initializer": "ones", "gamma_initializer": "ones"}
    for options in (limits, vectors):
        layer = layers.Conv1DRank1(4, 3, padding="causal", activation="relu", **options)
        outputs = layer(inputs)
        reference = tf.keras.layers.Conv1D(4, 3, padding="causal", activation="relu")
        reference.build(inputs.shape)
        reference.set_weights([layer.kernel, layer.bias[0]])
        np.testing.assert_allclose(outputs, reference(inputs), rtol=1e-5, atol=1e-6)


def test_tracers_see_the_vectors_that_all_examples_use():
    layer = layers.DenseRank1(4, name="dense", **WIDE)
    inputs = tf.ones([5, 3])
    layer.build(inputs.shape)
    with ed.tape() as tape:
        outputs = layer(inputs)
    assert sorted(tape) == ["dense/alpha", "dense/gamma"]
    assert np.all(outputs == outputs[0])
    with ed.condition(**{name: draw.value for name, draw in tape.items()}):
        np.testing.assert_array_equal(layer(inputs), outputs)


def test_cost_is_that_of_both_vectors_once():
    layer = layers.DenseRank1(4, ensemble_size=2, **WIDE)
    for _ in range(2):
        layer(tf.ones([4, 3]))
    variance = np.log(2) ** 2
    kl = (1 + variance - 1 - np.log(variance)) / 2
    np.testing.assert_allclose(sum(layer.losses), 2 * (3 + 4) * kl, rtol=1e-5)


def test_wrong_limits_and_batches_are_errors():
    with pytest.raises(ValueError, match="min_perturbation_value 2 is above max.* 1"):
        layers.DenseRank1(4, min_perturbation_value=2, max_perturbation_value=1)
    with pytest.raises(ValueError, match="multiple of ensemble_size 4, got 6"):
        layers.Conv1DRank1(4, 3, ensemble_size=4)(tf.ones([6, 5, 3]))


def test_arguments_are_in_the_order_of_edward2():
    layer = layers.DenseRank1(4, "relu", False, "ones", "zeros", "he_normal")
    config = layer.get_config()
    assert (config["activation"], config["use_bias"]) == ("relu", False)
    assert type(layer.gamma_initializer) is tf.keras.initializers.Zeros
    assert type(layer.kernel_initializer) is tf.keras.initializers.HeNormal
    layer = layers.Conv2DRank1(4, 3, 2, "same", None, 1, None, True, "ones", "zeros")
    assert layer.strides == (2, 2)
    assert type(layer.alpha_initializer) is tf.keras.initializers.Ones


@pytest.mark.parametrize("name", LAYERS)
def test_wrong_number_of_inputs_for_the_held_draws_is_an_error(name):
    make, shape = LAYERS[name]
    layer = make()
    layer(tf.ones([2, *shape]))
    with (
        ed.hold(layer, ed.sample_weights(layer, [7], seed=1)),
        pytest.raises(ValueError, match=r"7 draws .* shape \[7, ...\], got \(6, 2, "),
    ):
        layer(tf.ones([6, 2, *shape]))
