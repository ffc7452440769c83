import numpy as np
import pytest
import tensorflow as tf

import bayes_rl as ed

keras = tf.keras.layers


def normal(*shape):
    return tf.random.stateless_normal(shape, [0, 1])


LAYERS = {
    "dense": lambda: (ed.layers.DenseReparameterization(4), normal(3, 7, 2)),
    "flipout": lambda: (ed.layers.DenseFlipout(4), normal(3, 7, 2)),
    "dropout": lambda: (ed.layers.DenseVariationalDropout(4), normal(3, 7, 2)),
    "convolution": lambda: (ed.layers.Conv2DFlipout(4, 3), normal(3, 5, 5, 2)),
    "embedding": lambda: (
        ed.layers.EmbeddingReparameterization(5, 4),
        tf.ones([3, 7], "int32"),
    ),
    "ids": lambda: (  # as Keras makes of them in a `Sequential`
        ed.layers.EmbeddingReparameterization(5, 4),
        tf.ones([3, 7]),
    ),
    "model": lambda: (
        tf.keras.Sequential(
            [
                keras.Dense(3, activation="relu", input_shape=[7, 2]),
                ed.layers.DenseReparameterization(4, activation="relu"),
                keras.Dropout(0.5),
                ed.layers.DenseFlipout(2),
                keras.ReLU(),
            ]
        ),
        normal(3, 7, 2),
    ),
}


@pytest.mark.parametrize("kind", LAYERS)
def test_inputs_of_the_rank_built_for_go_whole_to_each_draw(kind):
    layer, inputs = LAYERS[kind]()
    layer(inputs)
    draws = ed.sample_weights(layer, [3], seed=1)  # as many as examples
    with ed.hold(layer, draws):
        outputs = layer(inputs)
    np.testing.assert_allclose(outputs, ed.predict(layer, inputs, draws), atol=1e-5)


def test_another_number_of_sequences_of_ids_than_of_draws_is_no_error():
    model = tf.keras.Sequential(
        [ed.layers.EmbeddingReparameterization(5, 4, input_shape=[2])]
    )
    ids = np.array([[1, 2], [3, 4], [0, 1]])
    draws = ed.sample_weights(model, [5], seed=1)
    with ed.hold(model, draws):
        np.testing.assert_array_equal(model(ids), ed.predict(model, ids, draws))


def test_attention_gives_its_inputs_whole_to_each_draw():
    layer, inputs = ed.layers.MultiHeadAttentionFlipout(2, 4), normal(3, 7, 2)
    layer(inputs, inputs)
    draws = ed.sample_weights(layer, [3], seed=1)
    with ed.hold(layer, draws):
        together = layer(inputs, inputs)
    for s in range(3):
        with ed.hold(layer, {name: draw[s] for name, draw in draws.items()}):
            np.testing.assert_allclose(together[s], layer(inputs, inputs), atol=1e-5)


MODELS = {
    "BatchNormalization": lambda: tf.keras.Sequential(
        [ed.layers.DenseFlipout(4, input_shape=[3]), keras.BatchNormalization(name="part")]
    ),
    "GlobalMaxPooling1D": lambda: tf.keras.Sequential(
        [
            tf.keras.Sequential(
                [
                    ed.layers.Conv1DFlipout(4, 3, input_shape=[5, 3]),
                    keras.GlobalMaxPooling1D(name="part"),
                ]
            )
        ]
    ),
    "Flatten": lambda: tf.keras.Sequential(
        [ed.layers.DenseFlipout(4, input_shape=[5, 3]), keras.Flatten(name="part")]
    ),
    "RNN": lambda: keras.RNN(ed.layers.LSTMCellFlipout(4), name="part"),
}


@pytest.mark.parametrize("kind", MODELS)
def test_layers_without_room_for_draws_are_refused_by_name(kind):
    model = MODELS[kind]()
    if kind == "RNN":
        model(tf.ones([2, 5, 3]))
    message = f"'part' \\({kind}\\) .* 2 draws.*ed.predict"
    with (
        pytest.raises(ValueError, match=message),
        ed.hold(model, ed.sample_weights(model, [2])),
    ):
        pass
    with ed.hold(model, ed.sample_weights(model)):  # one draw is no axis
        pass


def dense(units, **kwargs):
    return ed.layers.DenseReparameterization(units, **kwargs)


ONE_FEATURE = {
    "declared": (lambda: [dense(4, input_shape=[1]), dense(2)], (5, 1, 1)),
    "built": (lambda: [dense(4), dense(2)], (5, 1, 1)),
    "inner": (
        lambda: [dense(1), tf.keras.Sequential([dense(2, input_shape=[1])])],
        (1, 3),
    ),
}


@pytest.mark.parametrize("kind", ONE_FEATURE)
def test_a_last_axis_that_keras_drops_is_refused(kind):
    layers, shape = ONE_FEATURE[kind]
    model = tf.keras.Sequential(layers())
    model(normal(1, shape[-1]))
    with (
        pytest.raises(
            ValueError, match=r"takes inputs .* \(5, 1, 1\) with an axis of draws"
        ),
        ed.hold(model, ed.sample_weights(model, [5])),
    ):
        model(normal(*shape))


def test_a_sequential_model_without_declared_inputs_takes_the_axis_of_draws():
    model = tf.keras.Sequential([dense(4), tf.keras.Sequential([dense(2)])])
    inputs = normal(1, 3)
    model(inputs)
    with ed.hold(model, ed.sample_weights(model, [5], seed=1)):
        shared, paired = model(inputs), model(tf.repeat(inputs[tf.newaxis], 5, axis=0))
    assert paired.shape == [5, 1, 2]
    np.testing.assert_allclose(paired, shared, atol=1e-6)
