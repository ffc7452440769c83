import numpy as np
import pytest
import tensorflow as tf

import bayes_rl as ed


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_output_padding_equals_keras_at_the_mean(rank):
    name, options = f"Conv{rank}DTranspose", {"strides": 3, "output_padding": 2}
    layer = getattr(ed.layers, f"{name}Flipout")(4, 3, **options)
    inputs = tf.random.stateless_normal([2, *[3] * rank, 3], [0, 1])
    reference = getattr(tf.keras.layers, name)(4, 3, **options)
    outputs = layer(inputs)
    reference.build(inputs.shape)
    reference.set_weights([layer.kernel.distribution.mean(), np.zeros(4)])
    with ed.hold(layer, ed.mean_weights(layer)):
        np.testing.assert_allclose(layer(inputs), reference(inputs), atol=1e-6)
    assert outputs.shape == [2, *[11] * rank, 4]


def test_positional_arguments_are_those_of_keras():
    arguments = 4, 3, 2, "same", 1, "channels_last", 1, "relu", False
    layer = ed.layers.Conv2DTransposeReparameterization(*arguments)
    reference = tf.keras.layers.Conv2DTranspose(*arguments)
    ours, theirs = layer.get_config(), reference.get_config()
    names = ["strides", "padding", "output_padding", "activation", "use_bias"]
    assert [ours[name] for name in names] == [theirs[name] for name in names]


def test_unknown_batch_size_keeps_the_known_sizes():
    layer = ed.layers.Conv2DTransposeFlipout(4, 2, strides=2)
    outputs = layer(tf.keras.Input([4, 4, 3]))
    assert outputs.shape.as_list() == [None, 8, 8, 4]
