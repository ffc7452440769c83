import numpy as np
import tensorflow as tf
from tensorflow_probability import distributions as tfd

from bayes_rl import normal


def test_draw_of_another_distribution_uses_the_seed():
    laplace = tfd.Independent(tfd.Laplace(tf.zeros([3]), 1.0), 1)
    first, second = (normal.draw_from(laplace, [2], [1, 2]) for _ in range(2))
    assert first.shape == [2, 3]
    np.testing.assert_array_equal(first, second)


def test_centered_draw_leaves_the_mean_out():
    distribution = tfd.Independent(tfd.Normal([5.0, 6.0], 0.1), 1)
    whole = normal.draw_from(distribution, seed=[1, 2])
    change = normal.draw_from(distribution, seed=[1, 2], centered=True)
    np.testing.assert_allclose(whole - change, normal.mean_of(distribution), rtol=1e-6)
