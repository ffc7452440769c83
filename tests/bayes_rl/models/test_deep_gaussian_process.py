import functools

import pytest
import tensorflow as tf

import bayes_rl as ed
from bayes_rl import layers
from tests.bayes_rl.training import train

COUNT = 64
DATASET_SIZE = 1000


@pytest.fixture(scope="module")
def spatial_data():
    """Spatial inputs [COUNT, 1, 2] and two functions of them [COUNT, 2]."""
    features = tf.random.stateless_normal([COUNT, 1, 2], [0, 1])
    labels = [tf.sin(2.0 * features[:, 0, 0]), tf.cos(tf.reduce_sum(features, [1, 2]))]
    return features, tf.stack(labels, axis=-1)


@pytest.mark.slow
def test_figure_5_learns(spatial_data):
    features, labels = spatial_data
    model = ed.models.build_deep_gaussian_process([4, 4, 2], num_inducing=16)

    def loss_fn():
        predictions = model(features)
        # The mean of a draw over the batch, as tf.losses.mean_squared_error of TF1.
        nll = tf.reduce_mean(tf.keras.losses.mean_squared_error(labels, predictions))
        # Over the training set, as on the poster; the figure has one batch.
        kl = sum(model.losses) / DATASET_SIZE
        return nll + kl

    losses = train(loss_fn, [model], steps=80, learning_rate=0.03)
    assert losses.after < 0.75 * losses.before


@pytest.mark.slow
def test_poster_learns_by_compile_and_fit(spatial_data):
    features, labels = spatial_data
    # Keras adds `losses` as they are, so the KL is scaled where it is made.
    regularizer = ed.regularizers.NormalKLDivergence(scale_factor=1 / DATASET_SIZE)
    process = functools.partial(
        layers.SparseGaussianProcess,
        num_inducing=16,
        inducing_outputs_regularizer=regularizer,
    )
    model = tf.keras.Sequential(
        [tf.keras.layers.Flatten(), process(units=4), process(units=4), process(units=2)]
    )

    # Keras calls the model, and gives a loss the labels and what the model returned.
    def loss_fn(labels, predictions):
        return tf.reduce_mean((labels - predictions.mean()) ** 2)

    model.compile(tf.keras.optimizers.Adam(0.03), loss_fn)
    history = model.fit(features, labels, batch_size=64, epochs=80, verbose=0).history
    assert history["loss"][-1] < 0.7 * history["loss"][0]
