import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf

import bayes_rl as ed

MEMBERS = 3
DATA = 2.0 * tf.random.stateless_normal([MEMBERS * 8, 4, 5], [0, 1]) + 1.0


def keras_members():
    layers = [tf.keras.layers.BatchNormalization() for _ in range(MEMBERS)]
    return lambda x, training: tf.concat(
        [
            layer(part, training=training)
            for layer, part in zip(layers, tf.split(x, MEMBERS), strict=True)
        ],
        axis=0,
    )


@pytest.mark.parametrize("jit_compile", [None, False, True])
def test_equals_one_keras_layer_a_member(jit_compile):
    ours = ed.layers.EnsembleSyncBatchNorm(axis=2, ensemble_size=MEMBERS)
    ours.build(DATA.shape)
    call = ours
    if jit_compile is not None:
        call = tf.function(ours, jit_compile=jit_compile)
    expected = keras_members()
    for training in (True, True, False):
        np.testing.assert_allclose(
            call(DATA, training=training), expected(DATA, training), atol=1e-5
        )


def test_frozen_layer_uses_its_averages():
    layer = ed.layers.EnsembleSyncBatchNorm(axis=-1, ensemble_size=MEMBERS, trainable=False)
    np.testing.assert_allclose(layer(DATA, training=True), DATA / np.sqrt(1.001), rtol=1e-5)
    np.testing.assert_array_equal(layer.moving_mean, np.zeros([MEMBERS, 5]))


def test_training_is_that_of_fit():
    layer = ed.layers.EnsembleSyncBatchNorm(axis=-1, momentum=0.0)
    model = tf.keras.Sequential([tf.keras.Input([5]), layer])
    model.compile("sgd", "mse")
    data = DATA[:, 0].numpy()
    model.fit(data, data, batch_size=len(data), verbose=0)
    np.testing.assert_allclose(layer.moving_mean[0], data.mean(0), rtol=1e-4)
    np.testing.assert_allclose(layer.moving_variance[0], data.var(0), rtol=1e-4)


def test_replicas_share_the_statistics_of_all(two_devices):
    with two_devices.scope():
        layer = ed.layers.EnsembleSyncBatchNorm(axis=2)
        layer.build(DATA.shape)
    halves = two_devices.experimental_distribute_values_from_function(
        lambda context: tf.split(DATA, 2)[context.replica_id_in_sync_group]
    )
    call = tf.function(lambda x: layer(x, training=True))
    outputs = two_devices.experimental_local_results(two_devices.run(call, [halves]))
    alone = ed.layers.EnsembleSyncBatchNorm(axis=2)
    expected = alone(DATA, training=True)
    np.testing.assert_allclose(tf.concat(outputs, axis=0), expected, atol=1e-4)
    np.testing.assert_allclose(layer.moving_mean, alone.moving_mean, atol=1e-6)
    np.testing.assert_allclose(layer.moving_variance, alone.moving_variance, rtol=1e-4)


def test_replicas_count_by_their_examples(two_devices):
    with two_devices.scope():
        layer = ed.layers.EnsembleSyncBatchNorm(axis=-1, momentum=0.0)
        layer.build([None, 1])
    rows = tf.constant([[0.0], [0.0], [9.0]])
    call = tf.function(lambda x: layer(x, training=True))
    for sizes in ([2, 1], [3, 0], [0, 0]):
        parts = two_devices.experimental_distribute_values_from_function(
            lambda context, sizes=sizes: tf.split(rows[: sum(sizes)], sizes)[
                context.replica_id_in_sync_group
            ]
        )
        two_devices.run(call, [parts])
        np.testing.assert_allclose(layer.moving_mean, [[3.0]], rtol=1e-6)
        np.testing.assert_allclose(layer.moving_variance, [[18.0]], rtol=1e-6)


def check_that_an_empty_batch_changes_nothing(jit_compile):
    layer = ed.layers.EnsembleSyncBatchNorm(axis=-1, ensemble_size=2, momentum=0.5)
    layer.build([None, 5])
    call = layer if jit_compile is None else tf.function(layer, jit_compile=jit_compile)
    assert call(tf.zeros([0, 5]), training=True).shape == [0, 5]
    np.testing.assert_array_equal(layer.moving_mean, np.zeros([2, 5]))
    np.testing.assert_array_equal(layer.moving_variance, np.ones([2, 5]))


@pytest.mark.parametrize("jit_compile", [None, False])
def test_empty_batch_changes_nothing(jit_compile):
    check_that_an_empty_batch_changes_nothing(jit_compile)


@pytest.mark.slow
def test_empty_batch_changes_nothing_in_xla():
    # Where a process has made a DTensor mesh, XLA of TensorFlow 2.15 mixes up the variables
    # that a function with empty inputs assigns, so it is tested in one without.
    check = check_that_an_empty_batch_changes_nothing
    code = f"from {__name__} import {check.__name__} as check; check(True)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize("ensemble_size", [1, 2])
@pytest.mark.parametrize("use_tpu", [True, False])
def test_function_normalises_each_member(ensemble_size, use_tpu):
    inputs = tf.keras.Input([5])
    outputs = ed.layers.ensemble_batchnorm(
        inputs, ensemble_size, use_tpu, axis=-1, epsilon=0.0, name="norm"
    )
    model = tf.keras.Model(inputs, outputs)
    found = tf.reshape(model(DATA[:, 0], training=True), [ensemble_size, -1, 5])
    np.testing.assert_allclose(tf.reduce_mean(found, 1), 0.0, atol=1e-5)
    np.testing.assert_allclose(tf.math.reduce_std(found, 1), 1.0, atol=1e-4)
    count = 1 if use_tpu or ensemble_size == 1 else ensemble_size
    assert sum("norm" in layer.name for layer in model.layers) == count


def test_axis_before_the_last_is_an_error():
    with pytest.raises(ValueError, match="must be the last one, 2 or -1 .* got 3"):
        ed.layers.EnsembleSyncBatchNorm()(DATA)


def test_examples_that_the_members_cannot_share_are_an_error():
    layer = ed.layers.EnsembleSyncBatchNorm(ensemble_size=2)
    with pytest.raises(ValueError, match="multiple of ensemble_size 2, got 3"):
        layer(tf.ones([3, 4, 4, 5]))
    call = tf.function(layer, input_signature=[tf.TensorSpec([None, 4, 4, 5])])
    assert call(tf.ones([6, 4, 4, 5])).shape == [6, 4, 4, 5]
    with pytest.raises(tf.errors.InvalidArgumentError, match="multiple of ensemble_size"):
        call(tf.ones([3, 4, 4, 5]))


def test_an_axis_of_draws_is_an_error():
    dense = ed.layers.DenseReparameterization(5)
    norm = ed.layers.EnsembleSyncBatchNorm(axis=-1, ensemble_size=2, name="norm")
    model = tf.keras.Sequential([dense, norm])
    model(tf.ones([4, 3]))
    with (
        ed.hold(model, ed.sample_weights(model, [6])),
        pytest.raises(ValueError, match=r"'norm' .* rank 2, got \(6, 4, 5\).*ed.predict"),
    ):
        model(tf.ones([4, 3]))


def test_an_ensemble_without_members_is_an_error():
    with pytest.raises(ValueError, match="ensemble_size must be at least 1, got 0"):
        ed.layers.EnsembleSyncBatchNorm(axis=-1, ensemble_size=0)


@pytest.mark.parametrize("momentum", [3.0, -0.1, float("nan")])
def test_momentum_outside_of_its_range_is_an_error(momentum):
    with pytest.raises(ValueError, match=f"momentum must be 0 to 1, got {momentum}"):
        ed.layers.EnsembleSyncBatchNorm(momentum=momentum)
