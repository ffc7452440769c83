import numpy as np
import pytest
import tensorflow as tf

import bayes_rl as ed

INPUTS = tf.random.stateless_normal([4, 3], [0, 1])


def siamese(kind):
    """The same layer for two inputs."""
    layer = getattr(ed.layers, f"Dense{kind}")(2, name="shared")
    first, second = tf.keras.Input([3]), tf.keras.Input([3])
    return tf.keras.Model([first, second], [layer(first), layer(second)])


@pytest.mark.parametrize("kind", ["Reparameterization", "Flipout"])
def test_layer_that_is_called_twice_draws_once_a_call_of_the_model(kind):
    plain = siamese(kind)
    model = ed.OneDraw(plain)
    first, second = model([INPUTS, INPUTS])
    np.testing.assert_array_equal(first, second)
    assert np.any(model([INPUTS, INPUTS])[0] != first)
    first, second = plain([INPUTS, INPUTS])
    assert np.any(first != second)


def test_fit_optimises_the_bound_of_shared_weights():
    # Equal inputs and targets of both sides have equal losses under one draw.
    model = ed.OneDraw(siamese("Reparameterization"))
    ed.scale_kl(model, 0.0)
    model.compile("sgd", loss=["mse", "mse"])
    history = model.fit([INPUTS, INPUTS], [np.zeros([4, 2])] * 2, verbose=0)
    losses = [history.history[name][0] for name in history.history if name != "loss"]
    np.testing.assert_allclose(losses[0], losses[1], rtol=1e-6)


def test_held_draws_count_before_new_ones():
    model = ed.OneDraw(siamese("Flipout"))
    model([INPUTS, INPUTS])
    draws = ed.sample_weights(model, seed=1)
    with ed.hold(model, draws):
        np.testing.assert_array_equal(*model([INPUTS, INPUTS]))
        first = model([INPUTS, INPUTS])[0]
        np.testing.assert_array_equal(first, model([INPUTS, INPUTS])[0])
    assert ed.predict(model, [INPUTS, INPUTS], 3)[0].shape == (3, 4, 2)


def test_gradients_reach_the_posterior():
    model = ed.OneDraw(siamese("Flipout"))
    with tf.GradientTape() as tape:
        loss = tf.add_n([tf.reduce_sum(x**2) for x in model([INPUTS, INPUTS])])
    assert all(g is not None for g in tape.gradient(loss, model.trainable_variables)[:2])


def test_is_saved_and_loaded(tmp_path):
    model = ed.OneDraw(siamese("Reparameterization"))
    model([INPUTS, INPUTS])
    model.save(tmp_path / "model.keras")
    loaded = tf.keras.models.load_model(tmp_path / "model.keras")
    draws = ed.sample_weights(model, seed=1)
    with ed.hold(model, draws), ed.hold(loaded, draws):
        inputs = [INPUTS, INPUTS]
        np.testing.assert_allclose(model(inputs)[0], loaded(inputs)[0], rtol=1e-6)


def over_time():
    layer = tf.keras.layers.TimeDistributed(ed.layers.DenseFlipout(2))
    return tf.keras.Sequential([tf.keras.Input([5, 3]), layer])


def over_rows():
    layers = [tf.keras.Input([5, 3]), ed.layers.DenseFlipout(3)]
    layers += [tf.keras.layers.Lambda(lambda x: tf.reshape(x, [-1, 3]))]
    return tf.keras.Sequential([*layers, ed.layers.DenseFlipout(2)])


def over_time_of_images():
    layer = tf.keras.layers.TimeDistributed(ed.layers.Conv1DFlipout(2, 2))
    return tf.keras.Sequential([tf.keras.Input([2, 5, 3]), layer])


def over_time_of_sequences():
    cell = tf.keras.layers.RNN(ed.layers.LSTMCellFlipout(2))
    layer = tf.keras.layers.TimeDistributed(cell)
    return tf.keras.Sequential([tf.keras.Input([2, 5, 3]), layer])


@pytest.mark.parametrize(
    ("make", "is_traced"),
    [
        (over_time, False),
        (over_rows, False),
        (over_rows, True),
        (over_time_of_images, True),
        (over_time_of_sequences, True),
    ],
)
def test_signs_are_of_the_rows_that_a_layer_has(make, is_traced):
    plain = make()
    inputs = tf.keras.Input(plain.input_shape[1:])
    twice = tf.keras.Model(inputs, [plain(inputs), plain(inputs)])
    model = ed.OneDraw(twice)
    call = tf.function(model) if is_traced else model
    ones = tf.ones([3, *plain.input_shape[1:]])
    first, second = call(ones)
    np.testing.assert_array_equal(first, second)
    rows = np.reshape(first, [-1, first.shape[-1]])
    assert np.any(rows != rows[:1])  # each with signs of its own
    assert np.any(call(ones)[0] != first)


def test_signs_of_rows_are_held_for_a_reversible_chain():
    def block():
        inner = [ed.layers.DenseFlipout(3, input_shape=[3])]
        inner += [tf.keras.layers.Lambda(lambda x: tf.reshape(x, [-1, 1]))]
        inner += [ed.layers.DenseFlipout(1)]
        inner += [tf.keras.layers.Lambda(lambda x: tf.reshape(x, [-1, 3]))]
        return tf.keras.Sequential(inner)

    chain = ed.layers.ReversibleSequential([ed.layers.ReversibleResidual(block(), block())])
    inputs = tf.random.stateless_normal([4, 6], [0, 1])
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        loss = tf.reduce_sum(chain(inputs) ** 2)
    gradients = tape.gradient(loss, [inputs, *chain.trainable_variables])
    assert all(np.all(np.isfinite(gradient)) for gradient in gradients)
