import numpy as np
import pytest
import tensorflow as tf

import bayes_rl as ed

LENGTH, BLOCK = 10, 4
INPUTS = tf.random.stateless_normal([2, LENGTH, 6], [0, 1])


def make(is_masked, **options):
    name = "MaskedLocalAttention1D" if is_masked else "LocalAttention1D"
    return getattr(ed.layers, name)(2, key_dim=3, block_length=BLOCK, **options)


@pytest.mark.parametrize("is_masked", [False, True])
def test_outputs_are_those_of_full_attention_with_a_mask(is_masked):
    layer = make(is_masked)
    outputs = layer(INPUTS)
    full = tf.keras.layers.MultiHeadAttention(2, 3)
    full(INPUTS, INPUTS)
    full.set_weights(layer.get_weights())
    block = np.arange(LENGTH) // BLOCK
    apart = block[:, np.newaxis] - block
    mask = (apart >= -1) & (apart <= 1)
    if is_masked:
        mask &= np.tri(LENGTH, dtype=bool)
    expected = full(INPUTS, INPUTS, attention_mask=mask[np.newaxis])
    np.testing.assert_allclose(outputs, expected, rtol=1e-4, atol=1e-6)


def test_masked_attention_depends_on_no_later_position():
    layer = make(is_masked=True)
    with tf.GradientTape() as tape:
        tape.watch(INPUTS)
        outputs = tf.reduce_sum(layer(INPUTS), axis=-1)
    jacobian = tf.reduce_sum(abs(tape.batch_jacobian(outputs, INPUTS)), -1).numpy()
    np.testing.assert_array_equal(np.triu(jacobian, 1), np.zeros_like(jacobian))
    assert np.all(np.einsum("bii->bi", jacobian) > 0)


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match="block_length must be at least 1, got 0"):
        ed.layers.LocalAttention1D(2, block_length=0)
    with pytest.raises(ValueError, match="attention_type must be one of .*, got 'left'"):
        ed.layers.LocalAttention1D(2, attention_type="left")
