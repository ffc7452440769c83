import numpy as np
import pytest
import tensorflow as tf
from tensorflow_probability import distributions as tfd

import bayes_rl as ed
from tests.bayes_rl.training import train

VOLUME = 20.0


@pytest.fixture(scope="module")
def grid():
    """Centers of cells [49, 2]."""
    axis = tf.linspace(-2.0, 2.0, 7)
    return tf.reshape(tf.stack(tf.meshgrid(axis, axis), axis=-1), [-1, 2])


@pytest.mark.slow
def test_figure_9_learns_the_rate(grid):
    rate = 3.0 * tf.exp(-tf.reduce_sum(tf.square(grid), axis=-1, keepdims=True))
    counts = tf.random.stateless_poisson(rate.shape, [0, 1], VOLUME * rate, tf.float32)
    posterior = ed.models.build_cox_process_posterior(hidden_units=3, num_inducing=12)
    likelihood = ed.layers.PoissonProcess(rate=posterior, volume=VOLUME)

    def loss_fn():
        nll = -tf.reduce_sum(likelihood(grid).distribution.log_prob(counts))
        return (nll + sum(posterior.losses)) / len(grid)

    losses = train(loss_fn, [posterior], steps=100, learning_rate=0.03)
    best_constant = tfd.Poisson(tf.reduce_mean(counts)).log_prob(counts)
    assert losses.after < 0.7 * losses.before
    assert losses.after < -0.8 * tf.reduce_mean(best_constant)
    found = tf.reduce_mean([posterior(grid) for _ in range(20)], axis=0)
    assert np.corrcoef(found[:, 0], rate[:, 0])[0, 1] > 0.75


def test_rates_of_the_prior_are_like_near_by():
    model = ed.models.build_cox_process(hidden_units=4)
    points = tf.constant([[0.0, 0.0], [0.01, 0.0], [5.0, 5.0]])
    rates = model.rate(tf.tile(points[tf.newaxis], [200, 1, 1]))[..., 0]
    near, far = (np.mean(np.abs(rates[:, 0] - rates[:, k])) for k in (1, 2))
    assert near < 0.1 * far
