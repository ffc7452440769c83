import numpy as np
import pytest
import tensorflow as tf

import bayes_rl as ed

layers = ed.layers
COLUMNS = {"layer_l2_kernel": 2, "layer_l2_bias": 0}
OPTIONS = {
    "ensemble_size": 2,
    "alpha_initializer": "random_normal",
    "gamma_initializer": "random_normal",
    "bias_initializer": "random_normal",
    "name": "layer",
}
SHAPES = {"dense": [6, 3], "conv": [6, 5, 5, 3]}


def make(kind, **options):
    options = {**OPTIONS, **options}
    if kind == "dense":
        return layers.DenseHyperBatchEnsemble(4, COLUMNS, **options)
    return layers.Conv2DHyperBatchEnsemble(COLUMNS, 4, 3, **options)


def draw(kind, use_bias=True):
    data, lambdas, e = (
        tf.random.stateless_normal(shape, [0, seed])
        for seed, shape in enumerate([SHAPES[kind], [6, 3], [6, 8 if use_bias else 4]])
    )
    return data, tf.exp(lambdas), e


def product(data, kernel):
    if kernel.ndim == 2:
        return data @ kernel
    return tf.nn.conv2d(data, kernel, 1, "VALID")


def factors(part, member):
    alpha, gamma = (
        np.reshape(x, [-1, *x.shape[-2:]])[:, member] for x in (part.alpha, part.gamma)
    )
    return np.einsum("ri,ro->io", alpha, gamma)


@pytest.mark.parametrize(
    ("kind", "shared", "options"),
    [
        *((kind, shared, {}) for kind in SHAPES for shared in (False, True)),
        ("dense", False, {"rank": 2}),
        ("conv", True, {"rank": 2}),
        ("dense", True, {"regularize_fast_weights": False}),
        ("conv", False, {"regularize_fast_weights": False}),
    ],
)
def test_outputs_and_cost_are_those_of_each_examples_kernel(kind, shared, options):
    layer = make(kind, fast_weights_eq_contraint=shared, activation="tanh", **options)
    data, lambdas, e = draw(kind)
    outputs = layer([data, lambdas, e])
    main, delta = layer.main, layer.delta
    costs = []
    for example in range(6):
        member = example // 3
        first, second = main.kernel.numpy(), delta.kernel.numpy() * e[example, :4]
        kernel = first * factors(main, member)
        kernel += second * factors(main if shared else delta, member)
        bias = main.bias[member] + delta.bias[member] * e[example, 4:]
        expected = tf.tanh(product(data[example : example + 1], kernel) + bias)
        found = outputs[example : example + 1]
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)
        if not layer.regularize_fast_weights:
            kernel = first + second
        cost = lambdas[example, 2] * np.sum(kernel**2)
        costs.append(cost + lambdas[example, 0] * np.sum(bias**2))
    np.testing.assert_allclose(layer.losses, [np.mean(costs)], rtol=1e-4)


def test_without_response_it_is_a_batch_ensemble():
    layer = make("dense")
    data, lambdas, e = draw("dense")
    outputs = layer([data, lambdas, 0 * e])
    np.testing.assert_allclose(outputs, layer.dense(data), rtol=1e-5, atol=1e-6)
    assert layer.delta_dense is layer.delta


def test_shared_vectors_are_no_weights_of_delta():
    layer = make("conv", fast_weights_eq_contraint=True, use_bias=False)
    layer(list(draw("conv", use_bias=False)))
    names = {variable.name.rpartition("/")[2] for variable in layer.delta.variables}
    assert names == {"kernel:0"}


def test_one_draw_of_the_kernel_makes_outputs_and_cost():
    layer = layers.Conv2DHyperBatchEnsemble(
        COLUMNS,
        4,
        1,
        ensemble_size=1,
        kernel_initializer="trainable_normal",
        alpha_initializer="trainable_normal",
        use_bias=False,
        name="layer",
    )
    ones = [tf.ones([1, 1, 1, 1]), tf.ones([1, 3]), tf.ones([1, 4])]
    outputs = layer(ones)
    np.testing.assert_allclose(layer.losses[0], np.sum(outputs**2), rtol=1e-5)
    assert np.all(outputs != layer(ones))


def test_small_hyperparameters_survive_half_precision():
    layer = make("dense", dtype="mixed_float16")
    data, lambdas, e = draw("dense")
    outputs = layer([data, 1e-12 * lambdas, e])
    assert outputs.dtype == tf.float16
    exact = make("dense")
    exact.build([x.shape for x in (data, lambdas, e)])
    exact.set_weights(layer.get_weights())
    exact([data, 1e-12 * lambdas, e])
    np.testing.assert_allclose(layer.losses, exact.losses, rtol=1e-5)


def test_gradients_of_the_cost_reach_hyperparameters_and_responses():
    layer = make("conv")
    inputs = list(draw("conv"))
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        layer(inputs)
        cost = layer.losses[0]
    gradients = tape.gradient(cost, inputs[1:])
    assert np.all(gradients[0].numpy()[:, [0, 2]] > 0)
    assert np.all(gradients[0][:, 1] == 0)
    assert np.all(gradients[1] != 0)


def test_parts_start_apart():
    layer = make("dense", kernel_initializer=tf.keras.initializers.HeNormal())
    layer(list(draw("dense")))
    assert np.all(layer.main.kernel != layer.delta.kernel)


def test_a_weight_without_column_is_an_error():
    layer = layers.DenseHyperBatchEnsemble(4, {"other_l2_kernel": 0}, name="layer")
    with pytest.raises(ValueError, match="'layer_l2_kernel'.*'other_l2_kernel'"):
        layer([tf.ones([4, 3]), tf.ones([4, 1]), tf.ones([4, 8])])


def test_a_batch_that_members_cannot_share_is_an_error():
    with pytest.raises(ValueError, match="multiple of ensemble_size 2, got 5"):
        make("dense")([tf.ones([5, 3]), tf.ones([5, 3]), tf.ones([5, 8])])


def test_responses_of_another_size_are_an_error():
    inputs = [tf.ones([4, 3]), tf.ones([4, 3])]
    with pytest.raises(ValueError, match=r"e must have shape \[..., 8\], got \(4, 2\)"):
        make("dense")([*inputs, tf.ones([4, 2])])
    with pytest.raises(ValueError, match=r"e must have shape \[..., 4\], got \(4, 8\)"):
        make("dense", use_bias=False)([*inputs, tf.ones([4, 8])])


def test_a_column_that_lambdas_lack_is_an_error_and_no_cost_of_zero():
    columns = {"layer_l2_kernel": 7, "layer_l2_bias": 0}
    layer = layers.DenseHyperBatchEnsemble(1, columns, **OPTIONS)
    with pytest.raises(
        ValueError, match="column of 'layer_l2_kernel' must be from 0 .*, got 7"
    ):
        layer([tf.ones([4, 3]), tf.ones([4, 2]), tf.ones([4, 2])])


def test_an_empty_batch_costs_nothing():
    layer = make("dense")
    inputs = [x[:0] for x in draw("dense")]
    assert layer(inputs).shape == [0, 4]
    np.testing.assert_array_equal(layer.losses, [0.0])


@pytest.mark.parametrize("kind", ["dense", "conv", "dense over time"])
@pytest.mark.parametrize("draws", [2, 6])
def test_inputs_of_the_rank_built_for_go_whole_to_each_draw(kind, draws):
    layer = make(kind.split()[0], kernel_initializer="trainable_normal")
    data, *rest = draw(kind.split()[0])
    if "over time" in kind:
        data = tf.random.stateless_normal([6, 7, 3], [0, 3])
    layer([data, *rest])
    weights = ed.sample_weights(layer, [draws], seed=1)
    with ed.hold(layer, weights):
        together = layer([data, *rest])
    for index in range(draws):
        with ed.hold(layer, {name: value[index] for name, value in weights.items()}):
            np.testing.assert_allclose(together[index], layer([data, *rest]), atol=1e-5)


COLUMNS_OF_GROUP = {"group_1_l2_kernel": 1, "dense_l2_bias": 0}
MANY_LAMBDAS = np.arange(24.0).reshape([2, 3, 4])


def test_layers_of_a_group_share_their_column():
    for name in ("group_1", "group_1/conv", "group_1/conv_2/inner"):
        assert ed.layers.get_layer_name_identifier(name) == "group_1"
        found = ed.layers.get_lambda(MANY_LAMBDAS, "l2_kernel", name, COLUMNS_OF_GROUP)
        np.testing.assert_array_equal(found, MANY_LAMBDAS[..., 1:2])


def test_a_missing_column_is_an_error_that_names_it():
    message = "'dense' needs the column of 'dense_l2_kernel'.*'dense_l2_bias'"
    with pytest.raises(ValueError, match=message):
        ed.layers.get_lambda(MANY_LAMBDAS, "l2_kernel", "dense", COLUMNS_OF_GROUP)


@pytest.mark.parametrize("column", [4, -1])
def test_a_column_that_is_not_there_is_an_error(column):
    with pytest.raises(
        ValueError, match=f"'dense_l2_bias' must be .* the 4 columns .* got {column}"
    ):
        ed.layers.get_lambda(MANY_LAMBDAS, "l2_bias", "dense", {"dense_l2_bias": column})
