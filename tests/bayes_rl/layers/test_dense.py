import itertools

import numpy as np
import pytest
import tensorflow as tf

import bayes_rl as ed

LAYERS = [ed.layers.DenseReparameterization, ed.layers.DenseFlipout]


def wide_posterior():
    return ed.initializers.TrainableNormal(
        mean_initializer="random_normal", stddev_initializer="zeros"
    )


def make(layer_class, features=3, units=4, **kwargs):
    kwargs.setdefault("kernel_initializer", wide_posterior())
    layer = layer_class(units, **kwargs)
    layer.build([None, features])
    return layer


def mean_and_stddev(layer):
    posterior = layer.kernel.distribution
    return posterior.mean().numpy(), posterior.stddev().numpy()


@pytest.mark.parametrize("layer_class", LAYERS)
def test_kl_is_that_of_two_normals_once_for_many_calls(layer_class):
    prior = ed.regularizers.NormalKLDivergence(mean=0.1, stddev=0.5, scale_factor=0.25)
    layer = make(layer_class, kernel_regularizer=prior)
    for _ in range(3):
        layer(tf.ones([2, 3]))
    mean, stddev = mean_and_stddev(layer)
    kl = np.log(0.5 / stddev) + (stddev**2 + (mean - 0.1) ** 2) / (2 * 0.5**2) - 0.5
    (loss,) = layer.losses
    np.testing.assert_allclose(loss, 0.25 * kl.sum(), rtol=1e-5)


def test_kl_needs_no_random_operation():
    layer = make(ed.layers.DenseFlipout)
    graph = tf.function(lambda: layer.losses).get_concrete_function().graph
    assert not [op.type for op in graph.get_operations() if "Random" in op.type]


@pytest.mark.parametrize("jit", [False, True])
def test_losses_inside_a_function_equal_those_outside(jit):
    layer = make(ed.layers.DenseFlipout)
    inside = tf.function(lambda: layer.losses[0], jit_compile=jit)()
    np.testing.assert_allclose(inside, layer.losses[0], rtol=1e-5)


def test_frozen_layer_costs_nothing():
    layer = make(ed.layers.DenseFlipout)
    layer.trainable = False
    assert layer.losses == []
    assert layer.trainable_weights == []


@pytest.fixture(scope="module", params=LAYERS)
def wide(request):
    """A layer of many units, each with a draw of its own."""
    return make(request.param, units=40_000)


def test_mean_and_variance_of_outputs_are_those_of_the_posterior(wide):
    inputs = tf.random.stateless_normal([2, 3], [0, 1])
    mean, stddev = mean_and_stddev(wide)
    variance = np.square(inputs) @ np.square(stddev)
    error = (wide(inputs) - inputs @ mean) / np.sqrt(variance)
    assert np.all(abs(np.mean(error, 1)) < 5 / np.sqrt(40_000))
    np.testing.assert_allclose(np.var(error, 1), 1.0, atol=0.05)


def test_examples_share_the_draw_only_without_flipout(wide):
    expected = 0.0 if isinstance(wide, ed.layers.DenseFlipout) else 1.0
    error = wide(tf.ones([2, 3])) - tf.ones([2, 3]) @ mean_and_stddev(wide)[0]
    assert abs(np.corrcoef(error)[0, 1] - expected) < 5 / np.sqrt(40_000)


@pytest.mark.parametrize("layer_class", LAYERS)
def test_initial_values_differ_between_layers(layer_class):
    shared = ed.initializers.TrainableNormal()
    for initializer in ("trainable_normal", "trainable_he_normal", shared):
        first, second = (
            make(layer_class, kernel_initializer=initializer) for _ in range(2)
        )
        for ours, other in zip(
            mean_and_stddev(first), mean_and_stddev(second), strict=True
        ):
            assert not np.any(ours == other)


def test_variables_are_named_by_role():
    layer = ed.layers.DenseFlipout(4, name="dense")
    layer(tf.ones([2, 3]))
    names = [variable.name for variable in layer.trainable_weights]
    assert sorted(names) == ["dense/bias:0", "dense/kernel/mean:0", "dense/kernel/stddev:0"]


@pytest.mark.parametrize("shape", [[2, 3], [2, 5, 3], [2, 5, 6, 3]])
@pytest.mark.parametrize("layer_class", LAYERS)
def test_equals_keras_dense_at_the_mean(layer_class, shape):
    layer = make(layer_class, activation="tanh", bias_initializer="ones")
    inputs = tf.random.stateless_normal(shape, [0, 1])
    reference = tf.keras.layers.Dense(4, activation="tanh")
    reference.build(shape)
    reference.set_weights([mean_and_stddev(layer)[0], np.ones(4)])
    with ed.hold(layer, ed.mean_weights(layer)):
        np.testing.assert_allclose(layer(inputs), reference(inputs), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("layer_class", LAYERS)
def test_deterministic_kernel_has_minus_log_prior_as_cost(layer_class):
    layer = make(layer_class, kernel_initializer="he_normal")
    kernel = layer.kernel.numpy()
    assert np.all(layer(tf.eye(3)) == layer(tf.eye(3)))
    expected = 0.5 * np.sum(kernel**2) + 12 * 0.5 * np.log(2 * np.pi)
    np.testing.assert_allclose(layer.losses[0], expected, rtol=1e-5)


@pytest.mark.parametrize(
    ("policy", "parameters"),
    [("mixed_bfloat16", "float32"), ("mixed_float16", "float32"), ("float64", "float64")],
)
@pytest.mark.parametrize("layer_class", LAYERS)
def test_precision_policies(layer_class, policy, parameters):
    policy = tf.keras.mixed_precision.Policy(policy)
    layer = make(layer_class, dtype=policy)
    assert layer(tf.ones([2, 3])).dtype == policy.compute_dtype
    assert layer.losses[0].dtype == parameters
    weights = ed.sample_weights(layer, [6], seed=1, batch_size=2)
    assert weights[f"{layer.name}/kernel"].dtype == parameters
    with ed.hold(layer, weights):
        assert layer(tf.ones([6, 2, 3])).dtype == policy.compute_dtype


def test_global_mixed_policy():
    tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")
    try:
        layer = ed.layers.DenseFlipout(4)
        assert layer(tf.ones([2, 3])).dtype == tf.bfloat16
        assert layer.losses[0].dtype == tf.float32
    finally:
        # Keras starts with a policy that follows floatx; one of a name would not.
        tf.keras.mixed_precision.set_global_policy(None)


CONFIGS = list(
    itertools.product(
        LAYERS,
        ["trainable_glorot_normal", "glorot_uniform"],
        [None, ed.regularizers.NormalKLDivergence(stddev=0.3)],
    )
)


@pytest.mark.parametrize(("layer_class", "initializer", "regularizer"), CONFIGS)
def test_configuration_makes_an_equal_layer(layer_class, initializer, regularizer):
    layer = make(
        layer_class,
        activation="relu",
        kernel_initializer=initializer,
        kernel_regularizer=regularizer,
    )
    copy = layer_class.from_config(layer.get_config())
    copy.build([None, 3])
    assert copy.get_config() == layer.get_config()
    copy.set_weights(layer.get_weights())
    assert [float(x) for x in copy.losses] == [float(x) for x in layer.losses]


@pytest.mark.parametrize("suffix", [".h5", ""])
def test_saved_model_has_the_same_outputs(tmp_path, suffix):
    initializer = ed.initializers.TrainableNormal(
        mean_constraint=tf.keras.constraints.NonNeg()
    )
    layer = ed.layers.DenseFlipout(4, kernel_initializer=initializer)
    model = tf.keras.Sequential([tf.keras.Input([3]), layer])
    model.save(tmp_path / f"model{suffix}")
    loaded = tf.keras.models.load_model(tmp_path / f"model{suffix}")
    for ours, theirs in zip(model.get_weights(), loaded.get_weights(), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_allclose(model.losses[0], loaded.losses[0], rtol=1e-6)
    inputs = tf.ones([2, 3])
    assert np.all(loaded(inputs) != loaded(inputs)), "calls share a draw"


def test_cloned_model_has_its_own_weights():
    model = tf.keras.Sequential([tf.keras.Input([3]), ed.layers.DenseFlipout(4)])
    clone = tf.keras.models.clone_model(model)
    assert not {id(v) for v in model.variables} & {id(v) for v in clone.variables}
    assert clone.layers[0].kernel.name == model.layers[0].kernel.name


def test_units_below_one_is_an_error():
    with pytest.raises(ValueError, match="units must be at least 1, got 0"):
        ed.layers.DenseFlipout(0)


def test_unknown_initializer_names_the_nearest():
    with pytest.raises(ValueError, match="'trainable_norml' .* mean 'trainable_normal'"):
        ed.layers.DenseFlipout(1, kernel_initializer="trainable_norml")


def test_units_that_are_not_given_are_an_error():
    with pytest.raises(ValueError, match="units must be at least 1, got None"):
        ed.layers.DenseFlipout(None)


@pytest.mark.parametrize("layer_class", ["DenseReparameterization", "DenseFlipout"])
def test_inputs_with_gaps_are_an_error(layer_class):
    layer = getattr(ed.layers, layer_class)(2)
    ragged = tf.RaggedTensor.from_row_lengths(tf.ones([6, 3]), [2, 1, 3])
    with pytest.raises(
        ValueError, match="tensor without gaps, got a RaggedTensor; its to_"
    ):
        layer(ragged)
    with pytest.raises(ValueError, match="without gaps, got a SparseTensor"):
        layer(tf.sparse.from_dense(tf.ones([6, 3])))


def test_a_frozen_layer_costs_nothing_where_a_weight_is_a_point():
    layer = ed.layers.DenseReparameterization(3, kernel_initializer="zeros")
    layer.build([None, 2])
    assert len(layer.losses) == 1
    layer.trainable = False
    assert layer.losses == []
