import functools

import numpy as np
import pytest
import tensorflow as tf
from scipy import stats

from bayes_rl.numerics.noise import (
    as_seed,
    quantized_normal,
    rademacher,
    stateless_normal,
    threefry,
)


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


def test_quantized_normal_draws_are_standard_normal_to_their_resolution():
    draws = quantized_normal([1001, 999], [1, 2]).numpy().ravel()
    assert abs(draws.mean()) < 5 / np.sqrt(draws.size)
    assert abs(draws.var() - 1) < 5 * np.sqrt(2 / draws.size)
    assert stats.kstest(draws, "norm").pvalue > 0.01
    assert abs(np.corrcoef(draws[: draws.size // 2], draws[-(draws.size // 2) :])[0, 1]) < (
        5 / np.sqrt(draws.size / 2)
    )


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64])
def test_quantized_normal_draws_are_the_same_under_xla(dtype):
    draw = functools.partial(quantized_normal, [301, 3], [1, 2], dtype)
    assert draw().dtype == dtype
    np.testing.assert_array_equal(draw(), tf.function(draw, jit_compile=True)())


def test_signs_of_one_random_integer_are_independent():
    signs = rademacher([20_000, 40]).numpy()
    correlations = signs.T @ signs / len(signs) - np.eye(40)
    assert np.max(np.abs(correlations)) < 6 / np.sqrt(len(signs))
    assert abs(np.mean(signs, axis=0)).max() < 5 / np.sqrt(len(signs))


@pytest.mark.parametrize("shape", [[7], [2, 33], [0, 5], [4, 2, 31]])
def test_signs_have_any_shape(shape):
    assert rademacher(shape).shape == shape
    unknown = tf.function(lambda sizes: rademacher(tf.ensure_shape(sizes, [len(shape)])))
    assert unknown(tf.constant(shape)).shape == shape


@pytest.mark.parametrize("shape", [[4000, 40], [2000, 3, 45]])
def test_many_signs_are_fair_at_every_place(shape):
    signs = rademacher(shape).numpy().reshape(-1, shape[-1])
    assert set(np.unique(signs)) == {-1.0, 1.0}
    assert abs(np.mean(signs, axis=0)).max() < 5 / np.sqrt(len(signs))


@pytest.mark.parametrize(
    ("counter", "key", "expected"),
    [
        ((0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)),
        ((2**32 - 1,) * 2, (2**32 - 1,) * 2, (0x1CB996FC, 0xBB002BE7)),
        ((0x243F6A88, 0x85A308D3), (0x13198A2E, 0x03707344), (0xC4923A9C, 0x483DF7A0)),
    ],
)
def test_threefry_gives_the_answers_of_its_authors(counter, key, expected):
    words = (tf.constant(x, tf.uint32) for x in (*counter, key))
    assert tuple(map(int, threefry(*words))) == expected


def test_bits_of_threefry_are_fair_and_independent():
    counter = tf.cast(tf.range(2**16), tf.uint32)
    words = [
        word
        for seed in (1, 2)
        for word in threefry(counter, 0 * counter, tf.constant([0, seed], tf.uint32))
    ]
    bits = np.unpackbits(np.stack(words, axis=-1).view(np.uint8), axis=-1)
    signs = 2.0 * bits.reshape(len(counter), -1) - 1.0
    standard_error = 1 / np.sqrt(len(signs))
    correlations = signs.T @ signs / len(signs) - np.eye(signs.shape[1])
    assert np.abs(correlations).max() < 6 * standard_error
    assert np.abs(signs.mean(axis=0)).max() < 6 * standard_error
    assert np.abs((signs[1:] * signs[:-1]).mean(axis=0)).max() < 6 * standard_error


@pytest.mark.parametrize("seed", [1.5, "a", (1.0, 2.5), (1, 2, 3), np.ones([2]), [None, 1]])
def test_malformed_seeds_are_errors_of_one_line(seed):
    with pytest.raises(ValueError, match="^seed must be two integers, or one, got .*$"):
        as_seed(seed)


@pytest.mark.parametrize("seed", [3, (0, 3), np.array([0, 3]), tf.constant([0, 3]), [0, 3]])
def test_one_seed_may_be_given_in_many_ways(seed):
    np.testing.assert_array_equal(as_seed(seed), [0, 3])


def test_one_number_is_a_seed_of_any_kind():
    expected = as_seed(5).numpy()
    for seed in (np.int64(5), tf.constant(5), tf.constant(5, tf.int64)):
        np.testing.assert_array_equal(as_seed(seed), expected)
    with pytest.raises(ValueError, match="seed must be two integers, or one, got"):
        as_seed(tf.constant(5.0))
