import tensorflow as tf

import bayes_rl as ed


def test_the_weight_has_the_name_and_shape_of_keras():
    layer = ed.layers.DepthwiseConv2DFlipout(3, depth_multiplier=2, name="layer")
    assert layer(tf.ones([2, 5, 5, 4])).shape == [2, 3, 3, 8]
    assert layer.depthwise_kernel.name == "layer/depthwise_kernel"
    assert layer.depthwise_kernel.shape == [3, 3, 4, 2]
    assert [x.name for x in layer.trainable_weights] == [
        "layer/bias:0",
        "layer/depthwise_kernel/mean:0",
        "layer/depthwise_kernel/stddev:0",
    ]


def test_signs_are_those_of_input_and_output_channels():
    layer = ed.layers.DepthwiseConv1DFlipout(3, depth_multiplier=2)
    layer.build([None, 5, 4])
    key = "depthwise_kernel"
    assert layer.sign_sizes() == {f"{key}/sign_input": 4, f"{key}/sign_output": 8}


def test_positional_arguments_are_those_of_keras():
    arguments = 3, (1, 1), "same", 2, "channels_last", (1, 1), "relu", False
    ours = ed.layers.DepthwiseConv2DReparameterization(*arguments).get_config()
    theirs = tf.keras.layers.DepthwiseConv2D(*arguments).get_config()
    names = ["strides", "padding", "depth_multiplier", "activation", "use_bias"]
    assert [ours[name] for name in names] == [theirs[name] for name in names]
