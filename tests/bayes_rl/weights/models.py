"""The model of tests of weights."""

import tensorflow as tf

import bayes_rl as ed


def make_model(*names):
    layers = [
        (ed.layers.DenseFlipout if index % 2 else ed.layers.DenseReparameterization)(
            3, activation="tanh", name=name
        )
        for index, name in enumerate(names or ("first", "second"))
    ]
    model = tf.keras.Sequential(layers)
    model.build([None, 3])
    return model
