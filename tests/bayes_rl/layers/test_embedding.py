import numpy as np
import pytest
import tensorflow as tf

import bayes_rl as ed

WORDS = tf.constant([[1, 2, 1], [0, 2, 3]])


def make(**kwargs):
    wide = ed.initializers.TrainableNormal(
        mean_initializer="random_normal", stddev_initializer="zeros"
    )
    kwargs.setdefault("embeddings_initializer", wide)
    layer = ed.layers.EmbeddingReparameterization(4, 2, name="words", **kwargs)
    layer.build([None, 3])
    return layer


def test_mean_and_variance_are_those_of_the_posterior():
    tf.keras.utils.set_random_seed(1)
    layer, count = make(), 4_000
    calls = tf.function(
        lambda: tf.map_fn(lambda _: layer(WORDS), tf.zeros([count])), autograph=False
    )
    outputs = calls().numpy()
    posterior = layer.embeddings.distribution
    mean, stddev = (
        x.numpy()[WORDS.numpy()] for x in (posterior.mean(), posterior.stddev())
    )
    assert np.all(abs(outputs.mean(0) - mean) < 5 * stddev / np.sqrt(count))
    np.testing.assert_allclose((outputs.var(0) / stddev**2).mean(), 1.0, atol=0.06)


def test_equal_words_share_the_draw_and_calls_do_not():
    layer = make()
    first, second = layer(WORDS), layer(WORDS)
    np.testing.assert_array_equal(first[0, 0], first[0, 2])
    np.testing.assert_array_equal(first[0, 1], first[1, 1])
    assert np.all(first != second)


def test_equals_keras_at_the_mean():
    layer, reference = make(), tf.keras.layers.Embedding(4, 2)
    reference.build([None, 3])
    reference.set_weights([ed.mean_weights(layer)["words/embeddings"]])
    with ed.hold(layer, ed.mean_weights(layer)):
        np.testing.assert_array_equal(layer(WORDS), reference(WORDS))
        np.testing.assert_array_equal(layer(tf.cast(WORDS, tf.float32)), reference(WORDS))


def test_many_held_draws_equal_separate_holds():
    layer = make()
    weights = ed.sample_weights(layer, [5], seed=1)
    inputs = tf.random.stateless_uniform([5, 3, 2], [0, 1], 0, 4, tf.int32)
    with ed.hold(layer, weights):
        together = layer(inputs)
    table = weights["words/embeddings"].numpy()
    for draw in range(5):
        np.testing.assert_array_equal(together[draw], table[draw][inputs[draw].numpy()])


def test_another_number_of_inputs_than_of_draws_is_an_error():
    layer = make()
    with (
        ed.hold(layer, ed.sample_weights(layer, [5], seed=1)),
        pytest.raises(ValueError, match=r"5 draws .* shape \[5, ...\], got \(2, 2, 3\)"),
    ):
        layer(tf.stack([WORDS, WORDS]))


def test_mask_leaves_out_zeros():
    layer = make(mask_zero=True)
    np.testing.assert_array_equal(layer.compute_mask(WORDS), WORDS != 0)


def test_cost_is_counted_once():
    layer = make()
    layer(WORDS)
    layer(WORDS)
    assert [float(x) for x in layer.losses] == [
        float(x) for x in ed.kl_divergences(layer).values()
    ]
