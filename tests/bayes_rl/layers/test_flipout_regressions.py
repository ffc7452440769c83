"""What Flipout makes of small regressions as the guide says, with no setting tuned."""

import functools

import numpy as np
import pytest
import tensorflow as tf
from sklearn import datasets, model_selection

import bayes_rl as ed


def diabetes():
    return datasets.load_diabetes(return_X_y=True)


def friedman():
    return datasets.make_friedman1(800, 10, noise=1.0, random_state=0)


def houses():
    """Prices by income, age and two towns near by, as those of California."""
    generator = np.random.default_rng(0)
    income, age = generator.gamma(3.0, 1.0, 1200), generator.uniform(1.0, 52.0, 1200)
    place = generator.uniform(-5.0, 5.0, [1200, 2])
    others = generator.normal(size=[1200, 4])
    towns = sum(np.exp(-np.square(place - at).sum(-1) / 4.0) for at in (-2.0, 2.0))
    price = 0.4 * income + 1.2 * towns + 0.2 * np.sin(age / 8.0) - 0.3 * others[:, 0]
    price += 0.4 * generator.normal(size=1200)
    return np.column_stack([income, age, place, others]), price


class Noisy(tf.keras.Model):
    """A network, and the noise of its targets, which is learned."""

    def __init__(self, dense):
        super().__init__()
        layers = [dense(50, activation="relu"), dense(50, activation="relu"), dense(1)]
        self.network, self.log_stddev = tf.keras.Sequential(layers), tf.Variable(0.0)

    def call(self, inputs):
        return self.network(inputs)

    def loss_of(self, targets, means):
        return -ed.Normal(means, tf.exp(self.log_stddev)).log_prob(targets)


def scores(dense, data):
    """Root mean squared error and negative log likelihood on held-out examples."""
    tf.keras.utils.set_random_seed(0)
    inputs, test_inputs, targets, test_targets = data
    model = Noisy(dense)
    model(inputs)
    if dense is not tf.keras.layers.Dense:
        ed.scale_kl(model, 1 / len(inputs))
    model.compile(tf.keras.optimizers.Adam(3e-3), model.loss_of)
    model.fit(inputs, targets[:, None], batch_size=32, epochs=200, verbose=0)
    draws = ed.predict(model, test_inputs, 50 if model.losses else 1, seed=1, verbose=0)
    error = np.sqrt(np.mean(np.square(draws[..., 0].mean(0) - test_targets)))
    prediction = ed.Normal(draws, tf.exp(model.log_stddev))
    return error, np.mean(ed.uncertainty.log_score(prediction, test_targets))


@pytest.mark.slow
@pytest.mark.parametrize("make", [diabetes, friedman, houses])
def test_flipout_errs_no_more_than_a_plain_net_and_knows_more(make):
    inputs, targets = make()
    parts = model_selection.train_test_split(
        (inputs - inputs.mean(0)) / inputs.std(0),
        (targets - targets.mean()) / targets.std(),
        random_state=0,
    )
    data = [np.float32(part) for part in parts]
    flipout = functools.partial(
        ed.layers.DenseFlipout, kernel_initializer="trainable_glorot_normal"
    )
    error, surprise = scores(flipout, data)
    plain_error, plain_surprise = scores(tf.keras.layers.Dense, data)
    assert error < 1.05 * plain_error
    assert surprise < plain_surprise
