"""Figure 3, in both of its forms, in a network of two layers."""

import math

import pytest
import tensorflow as tf

import bayes_rl as ed
from bayes_rl import layers
from tests.bayes_rl.training import train

DATASET_SIZE = 2000


class VariationalDense(layers.VariationalDense):  # Keras's Dense would not draw weights
    """Variational Bayesian dense layer."""

    def __init__(
        self,
        units,
        activation=None,
        use_bias=True,
        kernel_initializer="trainable_normal",  # strings: the figure's names are no objects
        bias_initializer="zero",
        kernel_regularizer="normal_kl_divergence",
        bias_regularizer=None,
        activity_regularizer=None,
        **kwargs,
    ):
        super().__init__(
            units=units,
            activation=activation,
            use_bias=use_bias,
            kernel_initializer=kernel_initializer,
            bias_initializer=bias_initializer,
            kernel_regularizer=kernel_regularizer,
            bias_regularizer=bias_regularizer,
            activity_regularizer=activity_regularizer,
            **kwargs,
        )


@pytest.mark.parametrize(
    "dense",
    [
        VariationalDense,
        pytest.param(layers.DenseReparameterization, marks=pytest.mark.slow),
        pytest.param(layers.DenseFlipout, marks=pytest.mark.slow),
        layers.DenseQuadrature,
    ],
)
def test_figure_3_learns_exclusive_or(dense):
    inputs = tf.random.stateless_uniform([64, 2], [0, 1], -1.0, 1.0)
    labels = tf.cast(inputs[:, :1] * inputs[:, 1:] > 0.0, tf.float32)
    hidden, output_layer = dense(32, activation=tf.nn.relu), dense(1)

    def loss_fn():
        # Quadrature gives distributions; the figure's lines use them as tensors.
        outputs = hidden(inputs)
        logits = tf.convert_to_tensor(output_layer(outputs))
        nll = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels, logits))
        return nll + sum(hidden.losses + output_layer.losses) / DATASET_SIZE

    losses = train(loss_fn, [hidden, output_layer], steps=100, learning_rate=0.03)
    assert losses.after < 0.75 * min(losses.before, math.log(2))


def test_figure_3_shows_the_defaults_but_for_where_a_kernel_starts():
    ours, shown = layers.VariationalDense(2), VariationalDense(2)
    start = type(ours.kernel_initializer)
    assert start is ed.initializers.TrainableGlorotNormal
    assert issubclass(start, type(shown.kernel_initializer))
    for name in ("bias_initializer", "kernel_regularizer"):
        assert type(getattr(ours, name)) is type(getattr(shown, name))
