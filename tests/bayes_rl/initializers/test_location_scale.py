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
