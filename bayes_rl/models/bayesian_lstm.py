"""Bayesian LSTM: labels for each step of a sequence."""

import tensorflow as tf

from bayes_rl import layers


def build_bayesian_lstm(num_labels, units=512, cell=layers.LSTMCellReparameterization):
    """Makes an LSTM with a posterior over its kernels and a dense layer on its outputs.

        logits[t] = dense(lstm(features[:t]))

    Each call draws the kernels once, for all steps. `losses` holds their KL.

    Source: Tran et al., 2019, Bayesian Layers, Figure 1; Fortunato et al., 2017, Bayesian
    Recurrent Neural Networks.

    Args:
        num_labels: size of the logits.
        units: of the LSTM.
        cell: class of the cell, such as `LSTMCellFlipout`.

    Returns:
        A Keras model from features [B, T, F] to logits [B, T, num_labels].

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> model = ed.models.build_bayesian_lstm(3, units=4)
        >>> model(tf.ones([2, 5, 1])).shape, len(model.losses)
        (TensorShape([2, 5, 3]), 2)
    """
    return tf.keras.Sequential(
        [
            tf.keras.layers.RNN(cell(units), return_sequences=True),
            tf.keras.layers.Dense(num_labels),
        ]
    )
