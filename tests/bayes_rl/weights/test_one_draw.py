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
