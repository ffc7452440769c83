import functools
import math

import pytest
import tensorflow as tf

import bayes_rl as ed
from bayes_rl import layers
from tests.bayes_rl.training import stripes, train

SMALL = {"input_shape": [16, 16, 1], "num_classes": 2, "width": 4}
DATASET_SIZE = 50000

# An ordinary initializer: the kernels have no posterior, and their KL is -log prior.
he_normal = functools.partial(layers.Conv2DFlipout, kernel_initializer="he_normal")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("convolution", "dense", "blocks"),
    [
        # Figure 15; Figure 12 of the arXiv paper; Figure 8 of the workshop paper.
        (layers.Conv2DFlipout, layers.DenseVariationalDropout, [2]),
        (layers.VariationalConv2D, layers.VariationalDense, [1, 1]),
        (he_normal, layers.DenseFlipout, [1]),
    ],
)
def test_figure_15_learns(convolution, dense, blocks):
    features, labels = stripes(16)
    bayesian_resnet50 = ed.models.build_bayesian_resnet50(
        convolution=convolution, dense=dense, blocks=blocks, **SMALL
    )

    def loss_fn():
        # `training`: TF1 kept batch statistics in a collection of their own.
        logits = bayesian_resnet50(features, training=True)
        nll = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))
        kl = sum(bayesian_resnet50.losses) / DATASET_SIZE
        return nll + kl

    losses = train(loss_fn, [bayesian_resnet50], steps=40, learning_rate=0.01, draws=2)
    assert losses.after < 0.7 * min(losses.before, math.log(2))


@pytest.mark.slow
def test_figure_15_learns_by_compile_and_fit():
    features, labels = stripes(16)
    # Keras adds `losses` as they are, so the KL is scaled where it is made.
    regularizer = ed.regularizers.NormalKLDivergence(scale_factor=1 / DATASET_SIZE)
    model = ed.models.build_bayesian_resnet50(
        convolution=functools.partial(layers.Conv2DFlipout, kernel_regularizer=regularizer),
        dense=functools.partial(layers.DenseFlipout, kernel_regularizer=regularizer),
        blocks=[1],
        **SMALL,
    )
    # The network gives logits, of which the figure's string does not know.
    model.compile(
        optimizer=tf.keras.optimizers.Adam(0.01),
        loss=tf.keras.losses.CategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    one_hot = tf.one_hot(labels, 2)
    history = model.fit(features, one_hot, batch_size=32, epochs=25, verbose=0).history
    assert history["loss"][-1] < 0.7 * min(history["loss"][0], math.log(2))
    assert history["accuracy"][-1] > 0.8


@pytest.mark.slow
def test_resnet50_has_fifty_layers():
    model = ed.models.build_bayesian_resnet50([32, 32, 3], 10, width=1)
    kernels = [x for x in ed.posteriors(model) if not x.startswith("dense")]
    in_shortcuts = 4
    assert len(kernels) - in_shortcuts + 1 == 50
