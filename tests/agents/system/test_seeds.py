"""Tests of agents.system.seeds."""

import numpy as np
import tensorflow as tf
from scipy import stats

from agents.system.seeds import (
    Purpose,
    SeedsOfDecision,
    fold,
    normal,
    seed_of_run,
    split,
    uniform,
)

SEED = tf.constant([3, 4])


def test_purposes_keep_the_seeds_that_saved_runs_go_on_with():
    seeds = {purpose.name: seed_of_run(7, purpose).numpy().tolist() for purpose in Purpose}
    assert seeds == {
        "TRAIN": [7, 0],
        "POLICY": [7, 1],
        "COLLECT_POLICY": [7, 2],
        "FILM": [7, 3],
        "PROBE": [7, 4],
        "CALIBRATE": [7, 5],
        "SPREAD": [7, 6],
        "RENEW": [7, 7],
    }


def test_numbers_have_seeds_of_their_own():
    seeds = {tuple(fold(SEED, number).numpy()) for number in range(100)}
    assert len(seeds) == 100


def test_each_purpose_of_an_episode_and_of_its_decisions_has_a_seed_of_its_own():
    purposes = ("observation", "filter", "plan", "noise", "proposals")
    decisions = [SeedsOfDecision(SEED[tf.newaxis], [number]) for number in range(20)]
    seeds = [each.of(purpose) for each in decisions for purpose in purposes]
    seeds += [each.of_weights("decision") for each in decisions]
    seeds += [decisions[0].of_episode(purpose) for purpose in purposes]
    seeds.append(decisions[0].of_weights("episode"))
    assert len({tuple(seed.numpy().ravel()) for seed in seeds}) == 20 * 6 + 6


def test_fold_takes_any_integer_type():
    np.testing.assert_array_equal(
        fold(SEED, tf.constant(7, tf.int64)), fold(SEED, tf.constant(7, tf.int32))
    )


def test_split_gives_different_seeds():
    assert len({tuple(seed) for seed in split(SEED, 5).numpy()}) == 5


def test_normal_is_standard_normal_and_repeatable():
    numbers = normal([4000], SEED).numpy()
    assert stats.kstest(numbers, "norm").pvalue > 0.01
    np.testing.assert_array_equal(numbers, normal([4000], SEED))


def test_seeds_are_the_same_in_graphs():
    in_graph = tf.function(lambda seed: normal([3], fold(seed, 2)))(SEED)
    np.testing.assert_array_equal(in_graph, normal([3], fold(SEED, 2)))


def test_rows_of_a_batch_get_what_their_seeds_give_alone():
    seeds = tf.constant([[3, 4], [5, 6]])
    for row, seed in enumerate(tf.unstack(seeds)):
        np.testing.assert_array_equal(fold(seeds, 7)[row], fold(seed, 7))
        np.testing.assert_array_equal(fold(seeds, [7, 8])[row], fold(seed, 7 + row))
        np.testing.assert_array_equal(split(seeds, 3)[:, row], split(seed, 3))
        for draw in (normal, uniform):
            np.testing.assert_array_equal(draw([2, 3], seeds)[row], draw([1, 3], seed)[0])
            four = draw([4, 3], seeds)  # an environment with two groups has two rows
            np.testing.assert_array_equal(four[2 * row : 2 * row + 2], draw([2, 3], seed))
