import numpy as np
import pytest
import tensorflow as tf
from tensorflow.experimental import dtensor

import bayes_rl as ed
from bayes_rl import parallel


def _layer(name="expand", units=64, inputs=64, **options):
    layer = ed.layers.DenseFlipout(units, name=name, **options)
    layer(tf.ones([1, inputs]))
    return layer


def _gathered(layer, seed, batch_size=4):
    draws = tf.function(lambda: parallel.sample_weights(layer, seed, batch_size))()
    return {name: parallel.gather(value) for name, value in draws.items()}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "mesh"), [("expand", "1x2"), ("contract", "1x2"), ("expand", "2x1")]
)
def test_draws_are_equal_on_every_mesh(name, mesh):
    layer = _layer(name)
    whole = _gathered(layer, (1, 2))
    parallel.shard(layer, parallel.make_mesh(mesh))
    split = _gathered(layer, (1, 2))
    assert whole.keys() == split.keys()
    for key, value in whole.items():
        np.testing.assert_allclose(split[key], value, rtol=1e-6, atol=1e-7)


def test_a_draw_lies_where_its_weight_does():
    layer = _layer()
    parallel.shard(layer, parallel.make_mesh("1x2"))
    draws = tf.function(lambda: parallel.sample_weights(layer, 1, 4))()
    layouts = {x: dtensor.fetch_layout(draws[x]).sharding_specs for x in draws}
    assert layouts == {
        "expand/kernel": ["unsharded", "model"],
        "expand/kernel/sign_input": ["batch", "unsharded"],
        "expand/kernel/sign_output": ["batch", "model"],
    }


def test_draws_have_the_moments_of_the_posterior():
    layer = _layer(units=256, inputs=256)
    weight = layer.stochastic_weights["kernel"]
    weight.initializer.assign(mean=0.5, stddev=2.0)
    noise = (_gathered(layer, 3)["expand/kernel"] - 0.5) / 2.0
    error = noise.size**-0.5
    assert abs(noise.mean()) < 4 * error
    assert abs(np.square(noise).mean() - 1.0) < 4 * 2**0.5 * error
    # Neighbors along either axis are independent.
    for one, other in ((noise[1:], noise[:-1]), (noise[:, 1:], noise[:, :-1])):
        assert abs(np.mean(one * other)) < 4 * error


def test_signs_are_fair_and_differ_between_examples():
    signs = _gathered(_layer(units=256), 3, batch_size=64)["expand/kernel/sign_output"]
    assert set(np.unique(signs)) == {-1.0, 1.0}
    assert abs(signs.mean()) < 4 * signs.size**-0.5
    assert abs(np.mean(signs[1:] * signs[:-1])) < 4 * signs.size**-0.5


def test_draws_depend_on_seed_and_name_alone():
    # means near 0, so that draws are noise
    one, other = (
        _layer(name, kernel_initializer="trainable_normal") for name in ("one", "other")
    )
    both = _gathered([one, other], (1, 2))
    np.testing.assert_array_equal(_gathered(one, (1, 2))["one/kernel"], both["one/kernel"])
    noises = [
        both["one/kernel"],
        both["other/kernel"],
        _gathered(one, (1, 3))["one/kernel"],
    ]
    for i, noise in enumerate(noises):
        for other_noise in noises[:i]:
            correlation = np.corrcoef(noise.ravel(), other_noise.ravel())[0, 1]
            assert abs(correlation) < 4 / 64


def test_gradients_reach_mean_and_stddev():
    layer = _layer()
    with tf.GradientTape() as tape:
        total = tf.reduce_sum(parallel.sample_weights(layer, 1)["expand/kernel"])
    posterior = layer.stochastic_weights["kernel"].initializer
    of_mean, of_stddev = tape.gradient(total, [posterior.mean, posterior.stddev])
    np.testing.assert_allclose(of_mean, np.ones([64, 64]))
    assert np.all(np.abs(of_stddev) > 0)


def test_a_posterior_of_another_kind_is_an_error():
    layer = _layer(kernel_initializer="trainable_half_cauchy")
    message = "posterior of 'expand/kernel' must be normal to be drawn in parts, got"
    with pytest.raises(ValueError, match=message):
        parallel.sample_weights(layer, 1)
