import numpy as np
import pytest
import tensorflow as tf

from bayes_rl import parallel

START = np.random.default_rng(0).normal(size=[4, 2]).astype(np.float32)
PAIRS = [
    (lambda: parallel.SGD(0.1), lambda: tf.keras.optimizers.SGD(0.1)),
    (lambda: parallel.Adam(0.1), lambda: tf.keras.optimizers.Adam(0.1, jit_compile=False)),
]


class _Layer(tf.keras.layers.Layer):
    """Two weights, one of which is split over devices."""

    def build(self, shape):
        del shape
        start = tf.constant_initializer(START)
        self.kernel = self.add_weight("expand/kernel", [4, 2], initializer=start)
        self.other = self.add_weight("other", [2], initializer="ones")

    def call(self, inputs):
        return tf.reduce_sum(tf.square(self.kernel - 1.0) * tf.sin(self.other)) + inputs


def _train(optimizer, mesh=None, steps=20):
    layer = _Layer()
    layer(0.0)
    if mesh is not None:
        parallel.shard(layer, mesh)
    variables = layer.trainable_variables
    optimizer.build(variables)

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            loss = layer(0.0)
        gradients = tape.gradient(loss, variables)
        optimizer.apply_gradients(list(zip(gradients, variables, strict=True)))
        return loss

    losses = [float(parallel.gather(step())) for _ in range(steps)]
    return losses, [parallel.gather(x) for x in variables]


@pytest.mark.parametrize(("ours", "keras"), PAIRS, ids=["sgd", "adam"])
def test_they_are_those_of_keras(ours, keras):
    losses, weights = _train(ours())
    expected, expected_weights = _train(keras())
    np.testing.assert_allclose(losses, expected, rtol=1e-5)
    for found, wanted in zip(weights, expected_weights, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("ours", "keras"), PAIRS, ids=["sgd", "adam"])
def test_on_a_mesh_they_are_those_of_keras_on_one_device(ours, keras):
    losses, weights = _train(ours(), parallel.make_mesh("1x2"))
    expected, expected_weights = _train(keras())
    np.testing.assert_allclose(losses, expected, rtol=1e-5)
    for found, wanted in zip(weights, expected_weights, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)


def test_gradients_of_some_rows_alone_are_taken():
    table = tf.Variable(tf.ones([3, 2]))
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.gather(table, [1]))
    parallel.SGD(0.5).apply_gradients([(tape.gradient(loss, table), table)])
    assert table.numpy().tolist() == [[1.0, 1.0], [0.5, 0.5], [1.0, 1.0]]


def test_what_adam_remembers_lies_where_the_weights_do():
    layer = _Layer()
    layer(0.0)
    parallel.shard(layer, parallel.make_mesh("1x2"))
    optimizer = parallel.Adam()
    optimizer.build(layer.trainable_variables)
    # Steps; of each slot of [4, 2] half, of each of [2] all.
    size = 4 * (1 + 2 * 4 + 2 * 2)
    assert parallel.bytes_per_device(optimizer.variables) == {"CPU:0": size, "CPU:1": size}
