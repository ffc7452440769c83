import numpy as np
import pytest
import tensorflow as tf

import bayes_rl as ed
from tests.bayes_rl.layers.jacobians import log_det_of_inverse, randomize

DATA = 3.0 * tf.random.stateless_normal([64, 2, 3], [0, 1]) + [1.0, -2.0, 5.0]


@pytest.mark.parametrize("options", [None, {}, {"jit_compile": True}])
def test_first_batch_comes_out_normalised_and_later_ones_do_not(options):
    layer = ed.layers.ActNorm()
    layer.build(DATA.shape)
    call = layer if options is None else tf.function(layer, **options)
    outputs = call(DATA)
    np.testing.assert_allclose(tf.reduce_mean(outputs, [0, 1]), 0.0, atol=1e-5)
    np.testing.assert_allclose(tf.math.reduce_std(outputs, [0, 1]), 1.0, atol=1e-4)
    np.testing.assert_allclose(
        call(DATA + 1.0) - outputs, tf.exp(layer.log_scale) * tf.ones_like(DATA), rtol=1e-4
    )


def test_is_built_inside_of_a_function():
    layer = ed.layers.ActNorm()
    outputs = tf.function(layer)(DATA)
    np.testing.assert_allclose(tf.reduce_mean(outputs, [0, 1]), 0.0, atol=1e-5)


def test_two_variables_are_trained():
    layer = ed.layers.ActNorm()
    layer(DATA)
    assert [x.name.split("/")[-1] for x in layer.trainable_weights] == [
        "bias:0",
        "log_scale:0",
    ]
    assert all(isinstance(x, tf.Variable) for x in layer.weights)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(layer(DATA) ** 3)
    assert all(np.any(x) for x in tape.gradient(loss, layer.trainable_weights))


def test_log_determinant_is_that_of_the_jacobian():
    layer = ed.layers.ActNorm()
    layer(DATA)
    randomize(layer)
    ours = tf.reduce_sum(layer.log_det_jacobian(layer(DATA)), [1, 2])
    np.testing.assert_allclose(ours, log_det_of_inverse(layer, DATA), rtol=1e-5)
    np.testing.assert_allclose(layer.reverse(layer(DATA)), DATA, atol=1e-5)


def test_densities_moments_and_entropy_are_those_of_a_normal():
    layer = ed.layers.ActNorm()
    layer(DATA)
    randomize(layer)
    scale = np.exp(layer.log_scale)
    expected = ed.Normal((2.0 + layer.bias.numpy()) * scale, 3.0 * scale)
    ours = layer(ed.Normal(2.0 * tf.ones([2, 3]), 3.0))
    np.testing.assert_allclose(ours.log_prob(DATA), expected.log_prob(DATA), rtol=1e-4)
    for moment in ("mean", "mode", "stddev", "entropy"):
        found = getattr(ours, moment)()
        reference = tf.broadcast_to(getattr(expected, moment)(), [2, 3])
        np.testing.assert_allclose(found, reference, rtol=1e-5)
    event = layer(ed.Independent(ours.distribution.base, 1))
    reference = tf.reduce_sum(
        layer(ed.Independent(ours.distribution.base, 0)).log_prob(DATA), -1
    )
    np.testing.assert_allclose(event.log_prob(DATA), reference, rtol=1e-5)


def test_moments_do_not_start_it():
    layer = ed.layers.ActNorm()
    layer.build([None, 3])
    outputs = layer(ed.Normal(2.0 * tf.ones([4, 3]), 3.0))
    np.testing.assert_array_equal(outputs.mean(), 2.0 * np.ones([4, 3]))
    np.testing.assert_array_equal(outputs.variance(), 9.0 * np.ones([4, 3]))
    assert not layer.initialized.numpy()


def test_density_of_data_starts_a_reversed_one():
    layer = ed.layers.Reverse(ed.layers.ActNorm())
    outputs = layer(ed.Normal(tf.zeros([64, 3]), 1.0, value=tf.zeros([64, 3])))
    data = DATA[:, 0]
    fresh = ed.layers.Reverse(ed.layers.ActNorm())
    fresh.build(data.shape)
    log_prob = fresh(ed.Normal(tf.zeros([64, 3]), 1.0)).log_prob(data)
    moments = tf.reduce_mean(data, 0), tf.math.reduce_std(data, 0)
    np.testing.assert_allclose(log_prob, ed.Normal(*moments).log_prob(data), rtol=1e-4)
    assert outputs.shape == [64, 3]


@pytest.mark.parametrize("suffix", [".keras", pytest.param("", marks=pytest.mark.slow)])
def test_start_is_saved(tmp_path, suffix):
    model = tf.keras.Sequential([tf.keras.Input([2, 3]), ed.layers.ActNorm()])
    model.save(tmp_path / f"new{suffix}")
    new = tf.keras.models.load_model(tmp_path / f"new{suffix}")
    np.testing.assert_allclose(tf.reduce_mean(new(DATA), [0, 1]), 0.0, atol=1e-5)
    outputs = model(DATA)
    model.save(tmp_path / f"started{suffix}")
    started = tf.keras.models.load_model(tmp_path / f"started{suffix}")
    np.testing.assert_allclose(started(DATA[:2]), outputs[:2], rtol=1e-6)


def test_replicas_start_with_the_statistics_of_all(two_devices):
    with two_devices.scope():
        layer = ed.layers.ActNorm()
        layer.build(DATA.shape)
    halves = two_devices.experimental_distribute_values_from_function(
        lambda context: tf.split(DATA, 2)[context.replica_id_in_sync_group]
    )
    outputs = two_devices.run(tf.function(layer), [halves])
    outputs = tf.concat(two_devices.experimental_local_results(outputs), axis=0)
    np.testing.assert_allclose(outputs, ed.layers.ActNorm()(DATA), atol=1e-4)


@pytest.mark.parametrize("policy", ["bfloat16", "float16", "mixed_bfloat16", "float64"])
def test_start_in_any_precision(policy):
    layer = ed.layers.ActNorm(dtype=tf.keras.mixed_precision.Policy(policy))
    outputs = tf.cast(layer(tf.cast(DATA, layer.compute_dtype)), tf.float32)
    np.testing.assert_allclose(tf.reduce_mean(outputs, [0, 1]), 0.0, atol=0.02)
    np.testing.assert_allclose(tf.math.reduce_std(outputs, [0, 1]), 1.0, atol=0.02)


def test_start_is_exact_far_from_zero():
    data = 1e4 + DATA[:, 0] / 3.0
    layer = ed.layers.ActNorm()
    np.testing.assert_allclose(tf.math.reduce_std(layer(data), 0), 1.0, atol=1e-2)


@pytest.mark.parametrize("options", [None, {}, {"jit_compile": True}])
def test_empty_batch_does_not_start_it(options):
    layer = ed.layers.ActNorm()
    layer.build(DATA.shape)
    call = layer if options is None else tf.function(layer, **options)
    assert call(DATA[:0]).shape == [0, 2, 3]
    assert not layer.initialized.numpy()
    np.testing.assert_allclose(tf.reduce_mean(call(DATA), [0, 1]), 0.0, atol=1e-5)


def test_replicas_count_by_their_examples(two_devices):
    with two_devices.scope():
        layer = ed.layers.ActNorm()
        layer.build(DATA.shape)
    parts = two_devices.experimental_distribute_values_from_function(
        lambda context: (DATA, DATA[:0])[context.replica_id_in_sync_group]
    )
    outputs = two_devices.run(tf.function(layer), [parts])
    first, _ = two_devices.experimental_local_results(outputs)
    np.testing.assert_allclose(first, ed.layers.ActNorm()(DATA), atol=1e-4)


@pytest.mark.parametrize("batch", [DATA[:1, :1], tf.fill([64, 2, 3], 0.3), DATA[:0]])
def test_examples_that_do_not_differ_start_nothing(batch):
    layer = ed.layers.ActNorm()
    np.testing.assert_array_equal(layer(batch), batch)
    outputs = layer(DATA)
    np.testing.assert_allclose(tf.reduce_mean(outputs, [0, 1]), 0.0, atol=1e-5)
    np.testing.assert_allclose(tf.math.reduce_std(outputs, [0, 1]), 1.0, atol=1e-4)


def test_a_channel_that_is_the_same_in_all_examples_is_not_scaled():
    layer = ed.layers.ActNorm()
    layer(DATA * [1.0, 0.0, 1.0] + [0.0, 0.3, 0.0])
    np.testing.assert_array_equal(layer.log_scale == 0.0, [False, True, False])


def test_networks_of_couplings_start_with_their_first_data():
    def network(units):
        normalised = ed.layers.ActNorm()
        dense = tf.keras.layers.Dense
        return normalised, tf.keras.Sequential([dense(8), normalised, dense(units)])

    inputs = tf.random.stateless_normal([64, 4], [0, 1])
    first, f = network(2)
    second, g = network(8)
    ed.layers.ReversibleResidual(f, tf.keras.layers.Dense(2))(inputs)
    ed.layers.RealNVP(g, mask=[1, 0, 1, 0])(inputs)
    for layer in (first, second):
        assert bool(layer.initialized)
        assert abs(layer.log_scale.numpy()).max() < 5
