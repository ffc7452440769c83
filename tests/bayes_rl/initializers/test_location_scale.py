import numpy as np
import pytest
import scipy.stats
import tensorflow as tf

import bayes_rl as ed
from bayes_rl import initializers

FAMILIES = {
    "trainable_cauchy": ("cauchy_kl_divergence", scipy.stats.cauchy),
    "trainable_half_cauchy": (
        "half_cauchy_kl_divergence",
        scipy.stats.halfcauchy,
    ),
    "trainable_log_normal": (
        "log_normal_kl_divergence",
        lambda loc, s: scipy.stats.lognorm(s, scale=np.exp(loc)),
    ),
}


def make(family, **kwargs):
    return ed.layers.DenseReparameterization(
        4, kernel_initializer=family, kernel_regularizer=FAMILIES[family][0], **kwargs
    )


@pytest.mark.parametrize("name", FAMILIES)
def test_held_draws_are_distributed_as_the_parameters_say(name):
    initializer = type(initializers.get(name))(
        loc_initializer=tf.keras.initializers.Constant(0.3), scale_initializer="zeros"
    )
    layer = ed.layers.DenseReparameterization(
        4, kernel_initializer=initializer, kernel_regularizer=None, name="dense"
    )
    layer.build([None, 3])
    draws = ed.sample_weights(layer, [2000], seed=1)["dense/kernel"]
    reference = FAMILIES[name][1](0.3, np.log(2))
    assert scipy.stats.kstest(np.ravel(draws), reference.cdf).pvalue > 1e-4


@pytest.mark.parametrize("name", FAMILIES)
def test_default_scale_and_location(name):
    initializer = initializers.get(name)
    initializer.build([50, 40])
    loc, scale = initializer.parameters()
    assert np.all(abs(loc) < 3e-5)
    np.testing.assert_allclose(np.mean(scale), 0.0486, rtol=0.02)


@pytest.mark.parametrize("name", FAMILIES)
def test_every_element_of_location_and_scale_has_a_gradient_at_the_start(name):
    # one uniform number in 2^23 is 0, where a half-Cauchy is its location: no gradient
    tf.keras.utils.set_random_seed(1)
    initializer = initializers.get(name)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.math.log1p(tf.square(initializer([50, 40]).value)))
    for gradient in tape.gradient(loss, initializer.trainable_weights):
        assert np.all(np.isfinite(gradient) & (gradient != 0))


def test_half_cauchy_is_at_least_its_location():
    initializer = initializers.TrainableHalfCauchy(loc_initializer="zeros")
    draws = initializer([50, 40]).value
    loc, _ = initializer.parameters()
    assert np.all(loc > 0)
    assert np.all(draws >= loc)


@pytest.mark.parametrize("name", FAMILIES)
def test_mean_weights_are_means_or_medians(name):
    layer = make(name, name="dense")
    layer.build([None, 3])
    mean = ed.mean_weights(layer)["dense/kernel"]
    loc, scale = layer.kernel_initializer.parameters()
    expected = {
        "trainable_cauchy": loc,
        "trainable_half_cauchy": loc + scale,
        "trainable_log_normal": tf.exp(loc + scale**2 / 2),
    }[name]
    np.testing.assert_allclose(mean, expected, rtol=1e-6)


@pytest.mark.parametrize("policy", ["mixed_bfloat16", "mixed_float16", "float64"])
@pytest.mark.parametrize("name", FAMILIES)
def test_precision_policies(name, policy):
    policy = tf.keras.mixed_precision.Policy(policy)
    layer = make(name, dtype=policy)
    assert layer(tf.ones([2, 3])).dtype == policy.compute_dtype
    assert layer.losses[0].dtype == policy.variable_dtype


@pytest.mark.parametrize("name", FAMILIES)
def test_output_cost_and_gradients_compile(name):
    layer = make(name, bias_initializer="ones")
    layer.build([None, 3])

    @tf.function(jit_compile=True)
    def gradients():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(layer(tf.ones([2, 3])) ** 2) + layer.losses[0]
        return tape.gradient(loss, layer.trainable_weights)

    for gradient in gradients():
        assert np.all(np.isfinite(gradient))


@pytest.mark.parametrize("name", FAMILIES)
def test_assigned_parameters_are_those_after_the_constraint(name):
    initializer = initializers.get(name)
    initializer.build([3, 2])
    initializer.assign(loc=0.25, scale=[0.5, 0.01])
    loc, scale = initializer.parameters()
    np.testing.assert_allclose(loc, np.full([3, 2], 0.25), rtol=1e-6)
    np.testing.assert_allclose(scale, [[0.5, 0.01]] * 3, rtol=1e-4)
    with pytest.raises(ValueError, match=r"has the parameters \('loc', 'scale'\), got 'm"):
        initializer.assign(mean=0.0)


def of_points(initializer, **kwargs):
    layer = ed.layers.DenseReparameterization(
        4, kernel_initializer=initializer, name="dense", **kwargs
    )
    layer.build([None, 3])
    return layer


def test_deterministic_layer_is_keras_dense_with_a_prior():
    layer = of_points("trainable_deterministic")
    kernel = layer.kernel_initializer.loc
    reference = tf.keras.layers.Dense(4)
    reference.build([None, 3])
    reference.set_weights([kernel, np.zeros(4)])
    inputs = tf.random.stateless_normal([2, 3], [0, 1])
    np.testing.assert_allclose(layer(inputs), reference(inputs), rtol=1e-6)
    with tf.GradientTape() as tape:
        (cost,) = layer.losses
    # -log Normal(w; 0, 1) = w^2 / 2 + log(2 pi) / 2
    expected = 0.5 * np.sum(kernel**2) + 6 * np.log(2 * np.pi)
    np.testing.assert_allclose(cost, expected, rtol=1e-5)
    np.testing.assert_allclose(tape.gradient(cost, kernel), kernel, rtol=1e-5)


def test_mixture_draws_each_point_of_each_element_equally_often():
    layer = of_points(initializers.TrainableMixtureOfDeltas(num_components=3))
    points = layer.kernel_initializer.loc.numpy()
    assert points.shape == (3, 4, 3)
    draws = ed.sample_weights(layer, [3000], seed=1)["dense/kernel"].numpy()
    found = np.mean(draws[..., None] == points, axis=0)
    assert np.all(abs(found - 1 / 3) < 5 * np.sqrt(2 / 9 / 3000))
    np.testing.assert_allclose(
        ed.mean_weights(layer)["dense/kernel"], points.mean(-1), rtol=1e-5, atol=1e-7
    )


def test_components_start_apart_at_the_variance_of_he():
    initializer = initializers.TrainableMixtureOfDeltas(num_components=2)
    initializer([400, 100])
    np.testing.assert_allclose(np.var(initializer.loc), 2 / 400, rtol=0.05)
    first, second = np.moveaxis(initializer.loc.numpy(), -1, 0)
    assert abs(np.corrcoef(first.ravel(), second.ravel())[0, 1]) < 5 / np.sqrt(40_000)


def test_cost_of_a_mixture_has_gradients_to_every_point():
    layer = of_points("trainable_mixture_of_deltas")
    with tf.GradientTape() as tape:
        (cost,) = layer.losses
    points = layer.kernel_initializer.loc
    np.testing.assert_allclose(tape.gradient(cost, points), points / 5, rtol=1e-5)


@pytest.mark.parametrize("name", ["trainable_deterministic", "trainable_mixture_of_deltas"])
@pytest.mark.parametrize("policy", ["mixed_float16", "float64"])
def test_precision_policies_of_points(name, policy):
    policy = tf.keras.mixed_precision.Policy(policy)
    layer = of_points(name, dtype=policy)
    assert layer(tf.ones([2, 3])).dtype == policy.compute_dtype
    assert layer.losses[0].dtype == policy.variable_dtype


def test_mixture_of_nothing_is_an_error():
    with pytest.raises(ValueError, match="num_components must be at least 1, got 0"):
        initializers.TrainableMixtureOfDeltas(0)
