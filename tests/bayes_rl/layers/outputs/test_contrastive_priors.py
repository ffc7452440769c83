import numpy as np
import pytest
import tensorflow as tf

import bayes_rl as ed


def test_first_half_is_the_batch_and_the_second_has_the_noise():
    inputs = tf.random.stateless_normal([20_000, 2], [0, 1])
    first, second = tf.split(ed.layers.NCPNormalPerturb(0.5, 2.0, seed=3)(inputs), 2)
    np.testing.assert_array_equal(first, inputs)
    noise = (second - inputs).numpy()
    assert abs(noise.mean() - 0.5) < 5 * 2.0 / np.sqrt(40_000)
    np.testing.assert_allclose(noise.std(), 2.0, rtol=0.02)


def test_noise_is_new_at_every_call_but_with_a_seed():
    inputs = tf.zeros([2, 3])
    for seed, is_equal in [(None, False), (1, True)]:
        layer = ed.layers.NCPNormalPerturb(seed=seed)
        assert np.all(layer(inputs) == layer(inputs)) == is_equal


@pytest.mark.parametrize("dtype", ["int32", "float32"])
def test_categories_are_replaced_with_the_given_probability(dtype):
    inputs = tf.cast(tf.fill([40_000], 300), dtype)
    layer = ed.layers.NCPCategoricalPerturb(400, probs=0.25, dtype="mixed_bfloat16")
    first, second = tf.split(layer(inputs), 2)
    np.testing.assert_array_equal(first, inputs)
    changed = 0.25 * 399 / 400
    error = 5 * np.sqrt(changed * (1 - changed) / 40_000)
    assert abs(np.mean(second != inputs) - changed) < error
    others = second[second != inputs].numpy()
    assert others.min() >= 0
    assert 395 < others.max() < 400


def test_output_adds_the_mean_kl_to_the_second_half():
    mean = tf.random.stateless_normal([6, 2], [0, 1])
    stddev = tf.exp(tf.random.stateless_normal([6, 2], [0, 2]))
    layer = ed.layers.NCPNormalOutput(mean=0.5, stddev=2.0)
    predictions = ed.Normal(mean, stddev)
    output = layer(predictions)
    np.testing.assert_array_equal(output.mean(), mean[:3])
    np.testing.assert_array_equal(output.stddev(), stddev[:3])
    np.testing.assert_array_equal(output.value, predictions.value[:3])
    m, s = mean[3:].numpy(), stddev[3:].numpy()
    kl = np.log(s / 2.0) + (2.0**2 + (m - 0.5) ** 2) / (2 * s**2) - 0.5
    (loss,) = layer.losses
    np.testing.assert_allclose(loss, kl.mean(), rtol=1e-5)


def test_pulls_predictions_off_the_data_to_the_prior():
    model = tf.keras.Sequential(
        [
            tf.keras.Input([1]),
            ed.layers.NCPNormalPerturb(stddev=0.1),
            tf.keras.layers.Dense(4, "relu"),
            ed.layers.Normal(2),
            ed.layers.NCPNormalOutput(),
        ]
    )
    with tf.GradientTape() as tape:
        output = model(tf.ones([3, 1]))
        loss = tf.reduce_sum(model.losses)
    assert output.shape == [3, 2]
    gradients = tape.gradient(loss, model.trainable_variables)
    assert all(x is not None for x in gradients)
    model.compile("sgd", loss=lambda y, rv: -rv.log_prob(y), run_eagerly=True)
    history = model.fit(tf.ones([4, 1]), tf.ones([4, 2]), verbose=0)
    assert np.isfinite(history.history["loss"][0])


@pytest.mark.parametrize("suffix", [".keras", pytest.param("", marks=pytest.mark.slow)])
def test_saved_output_has_the_same_mean_and_loss(suffix, tmp_path):
    inputs = tf.keras.Input([2])
    model = tf.keras.Model(inputs, ed.layers.NCPNormalOutput(0.5, 2.0)(inputs))
    model.save(tmp_path / f"model{suffix}")
    other = tf.keras.models.load_model(tmp_path / f"model{suffix}")
    values = tf.random.stateless_normal([4, 2], [0, 1])
    np.testing.assert_allclose(other(values).mean(), model(values).mean(), rtol=1e-5)
    np.testing.assert_allclose(other.losses, model.losses, rtol=1e-5)


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match="stddev must not be negative, got -1"):
        ed.layers.NCPNormalPerturb(stddev=-1)
    with pytest.raises(ValueError, match=r"probs must be in \[0, 1\], got 2"):
        ed.layers.NCPCategoricalPerturb(3, probs=2)
    with pytest.raises(
        ValueError, match="as many perturbed inputs as inputs, got 3 in all"
    ):
        ed.layers.NCPNormalOutput()(tf.ones([3, 1]))
    with pytest.raises(TypeError, match="normal random variable, got Logistic"):
        ed.layers.NCPNormalOutput()(ed.Logistic(tf.ones([2, 1]), 1.0))


def test_output_of_held_draws_halves_the_batch_of_each():
    inputs = np.random.default_rng(0).normal(size=[3, 4, 2]).astype(np.float32)
    layer, single = ed.layers.NCPNormalOutput(axis=1), ed.layers.NCPNormalOutput()
    np.testing.assert_array_equal(layer(inputs).mean(), inputs[:, :2])
    costs = []
    for each in inputs:
        single(each)
        costs += single.losses
    np.testing.assert_allclose(layer.losses[0], np.mean(costs), rtol=1e-5)


def test_output_refuses_a_negative_axis():
    with pytest.raises(ValueError, match="axis must not be negative, got -1"):
        ed.layers.NCPNormalOutput(axis=-1)


def test_empty_batch_costs_nothing():
    layer = ed.layers.NCPNormalOutput()
    assert layer(tf.zeros([0, 2])).shape == [0, 2]
    np.testing.assert_array_equal(layer.losses, [0.0])


@pytest.mark.parametrize("stddev", [0, [1.0, -1.0]])
def test_prior_without_a_stddev_above_zero_is_an_error(stddev):
    with pytest.raises(ValueError, match="stddev must be above 0, got"):
        ed.layers.NCPNormalOutput(stddev=stddev)


@pytest.mark.parametrize("dtype", ["int32", "uint8"])
def test_whole_inputs_get_the_noise_of_others(dtype):
    inputs = tf.constant([[0, 1, 255]])
    layer = ed.layers.NCPNormalPerturb(stddev=0.4, seed=1)
    expected = layer(tf.cast(inputs, tf.float32))
    np.testing.assert_array_equal(layer(tf.cast(inputs, dtype)), expected)


def test_each_feature_may_have_its_noise():
    layer = ed.layers.NCPNormalPerturb([1.0, 2.0], np.array([0.0, 0.5]), seed=1)
    first, second = tf.split(layer(tf.zeros([100, 2])), 2)
    noise = (second - first).numpy()
    assert (noise[:, 0] == 1.0).all()
    assert noise[:, 1].std() > 0.3
    copy = type(layer).from_config(layer.get_config())
    np.testing.assert_array_equal(copy(tf.zeros([100, 2]))[100:], second)
    with pytest.raises(ValueError, match=r"stddev must not be negative, got \[1, -1\]"):
        ed.layers.NCPNormalPerturb(stddev=[1, -1])
