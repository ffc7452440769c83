"""Recurrent cells, embeddings and attention."""

import numpy as np
import tensorflow as tf

import bayes_rl as ed
from tests.bayes_rl.layers.catalog.case import Case


def _rnn(cell, inputs):
    """A Keras model of a cell: sequences of the first of the cell's inputs."""
    return tf.keras.layers.RNN(cell)(tf.keras.layers.RepeatVector(3)(inputs[0]))


def _lstm(layer_class, **kwargs):
    # States [2, B, units] stand for a list of two.
    return Case(
        lambda **options: layer_class(4, **kwargs, **options),
        inputs=lambda generator: [
            generator.normal(size=[2, 3]),
            generator.normal(size=[2, 2, 4]),
        ],
        model=_rnn,
        draws=False,
    )


def _gru(layer_class):
    return Case(
        lambda **options: layer_class(4, **options), shapes=[(2, 3), (2, 4)], model=_rnn
    )


def _make_rnn(layer_class):
    def make(name="layer", **options):
        cell = layer_class(4, name=name, **options)
        return tf.keras.layers.RNN(cell, return_sequences=True, name=name, **options)

    return make


def _attention(layer_class):
    return Case(
        lambda **options: layer_class(2, 4, **options), shapes=[(2, 5, 3), (2, 7, 3)]
    )


CASES = [
    _lstm(ed.layers.LSTMCellReparameterization),
    _lstm(ed.layers.LSTMCellFlipout),
    _lstm(ed.layers.LSTMCellRank1, ensemble_size=2),
    _gru(ed.layers.GRUCellReparameterization),
    _gru(ed.layers.GRUCellFlipout),
    Case(
        _make_rnn(ed.layers.LSTMCellFlipout),
        [(2, 5, 3)],
        draws=False,
        name="RNN[LSTMCellFlipout]",
    ),
    Case(
        lambda **options: ed.layers.EmbeddingReparameterization(6, 4, **options),
        inputs=lambda generator: [generator.integers(0, 6, [2, 5]).astype(np.int32)],
    ),
    _attention(ed.layers.MultiHeadAttentionReparameterization),
    _attention(ed.layers.MultiHeadAttentionFlipout),
]
