import numpy as np
import pytest
import tensorflow as tf

import bayes_rl as ed


@pytest.mark.parametrize("dtype", ["int32", "float32"])
def test_values_are_embedded_by_their_channel_in_the_order_of_the_image(dtype):
    images = np.random.default_rng(0).integers(0, 300, [2, 4, 5, 3])
    layer = ed.layers.ChannelEmbedding(8, num_values=300)
    outputs = layer(tf.constant(images, dtype)).numpy().reshape(2, 4, 5, 3, 8)
    tables = layer.embeddings.numpy()
    for channel in range(3):
        expected = np.sqrt(8) * tables[channel][images[..., channel]]
        np.testing.assert_allclose(outputs[..., channel, :], expected, rtol=1e-5)


@pytest.mark.parametrize("value", [-1, 4])
def test_value_out_of_range_is_no_value_of_the_next_channel(value):
    layer = ed.layers.ChannelEmbedding(8, num_values=4)
    layer(tf.zeros([1, 1, 1, 3]))
    image = np.zeros([1, 1, 1, 3])
    image[..., 1] = value
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"{value}] does not index"):
        layer(image)


def test_large_values_stay_whole_in_half_precision():
    layer = ed.layers.ChannelEmbedding(2, num_values=300, dtype="mixed_bfloat16")
    inputs = tf.keras.Input([1, 1, 1])
    model = tf.keras.Model(inputs, layer(inputs))
    one, other = (model(tf.fill([1, 1, 1, 1], value)) for value in (298.0, 299.0))
    assert one.dtype == tf.bfloat16
    assert np.all(one != other)


def test_position_adds_its_row_of_the_table():
    layer = ed.layers.PositionalEmbedding(10, embeddings_initializer="random_normal")
    inputs = tf.random.stateless_normal([2, 6, 3], [0, 1])
    expected = inputs + layer(tf.zeros([1, 6, 3]))
    np.testing.assert_allclose(layer(inputs), expected, rtol=1e-6)
    np.testing.assert_array_equal(layer(tf.zeros([1, 6, 3]))[0], layer.embeddings[:6])


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match="hidden_size must be at least 1, got 0"):
        ed.layers.ChannelEmbedding(0)
    with pytest.raises(ValueError, match="max_length must be at least 1, got 0"):
        ed.layers.PositionalEmbedding(0)
    with pytest.raises(ValueError, match="longer than max_length 4, got 6"):
        ed.layers.PositionalEmbedding(4)(tf.zeros([1, 6, 3]))


@pytest.mark.parametrize("max_length", [1, 4])
def test_later_sequence_that_is_too_long_is_an_error(max_length):
    layer = ed.layers.PositionalEmbedding(max_length)
    layer(tf.zeros([1, 1, 3]))
    with pytest.raises(ValueError, match=f"longer than max_length {max_length}, got 6"):
        layer(tf.zeros([1, 6, 3]))
    unknown = tf.function(layer, input_signature=[tf.TensorSpec([1, None, 3])])
    with pytest.raises(tf.errors.InvalidArgumentError, match="longer than max_length"):
        unknown(tf.zeros([1, 6, 3]))
    np.testing.assert_array_equal(unknown(tf.zeros([1, 1, 3]))[0], layer.embeddings[:1])
