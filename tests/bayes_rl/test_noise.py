import numpy as np
import pytest
import tensorflow as tf
from scipy import stats

from bayes_rl.noise import rademacher, stateless_normal


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64])
def test_stateless_draws_are_standard_normal(dtype):
    draws = stateless_normal([100_000], [1, 2], dtype)
    assert draws.dtype == dtype
    assert stats.kstest(draws.numpy(), "norm").pvalue > 0.001
    np.testing.assert_allclose(np.var(draws), 1.0, rtol=0.02)


@pytest.mark.parametrize("seed", [None, (1, 2)])
def test_rademacher_signs_have_mean_zero_and_square_one(seed):
    signs = rademacher([100_000], seed).numpy()
    assert np.all(signs**2 == 1.0)
    assert abs(signs.mean()) < 5 / np.sqrt(100_000)


@pytest.mark.parametrize("make", [stateless_normal, rademacher])
def test_seed_gives_the_same_noise_in_eager_graph_and_xla(make):
    eager = make([200], tf.constant([1, 2]))
    for jit in (False, True):
        compiled = tf.function(lambda seed: make([200], seed), jit_compile=jit)
        np.testing.assert_allclose(compiled(tf.constant([1, 2])), eager, atol=1e-4)
