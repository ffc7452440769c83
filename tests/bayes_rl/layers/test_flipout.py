import numpy as np
import pytest
import tensorflow as tf

import bayes_rl as ed

LAYERS = {
    "dense": (lambda: ed.layers.DenseFlipout(5), [4, 3]),
    "dense over time": (lambda: ed.layers.DenseFlipout(5), [4, 6, 3]),
    "conv": (lambda: ed.layers.Conv2DFlipout(5, 2), [4, 6, 7, 3]),
    "conv of channels first": (
        lambda: ed.layers.Conv2DFlipout(5, 2, data_format="channels_first"),
        [4, 3, 6, 7],
    ),
    "rnn": (lambda: tf.keras.layers.RNN(ed.layers.LSTMCellFlipout(5)), [4, 6, 3]),
}


@pytest.mark.parametrize("kind", LAYERS)
def test_held_signs_are_for_as_many_examples(kind):
    make, shape = LAYERS[kind]
    layer, inputs = make(), tf.ones(shape)
    layer.build(inputs.shape)
    with ed.hold(layer, ed.sample_weights(layer, seed=1, batch_size=4)):
        np.testing.assert_array_equal(layer(inputs), layer(inputs))
    for count in (1, 2):
        message = rf"sign_input' must have shape \[4, 3\], got \({count}, 3\)"
        with (
            ed.hold(layer, ed.sample_weights(layer, seed=1, batch_size=count)),
            pytest.raises(ValueError, match=message),
        ):
            layer(inputs)


@pytest.mark.parametrize("paired", [False, True])
@pytest.mark.parametrize("kind", ["dense", "conv"])
def test_held_signs_of_many_draws_are_for_as_many_examples(kind, paired):
    make, shape = LAYERS[kind]
    layer, inputs = make(), tf.ones([2, *shape] if paired else shape)
    layer.build(shape)
    with ed.hold(layer, ed.sample_weights(layer, [2], seed=1, batch_size=4)):
        assert layer(inputs).shape[:2] == [2, 4]
    with (
        ed.hold(layer, ed.sample_weights(layer, [2], seed=1, batch_size=1)),
        pytest.raises(ValueError, match=r"must have shape \[.*4, 3\], got \(2, 1, 3\)"),
    ):
        layer(inputs)
