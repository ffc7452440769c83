"""Tests of agents.planet.explore.sampling."""

import numpy as np
import pytest
import tensorflow as tf

from agents.planet.explore import Greedy, MeanOverDraws, Thompson
from agents.planet.explore.strategy import Elapsed
from agents.planet.planning.rollouts import Rollout

# Three draws, one environment, two plans of two steps.
REWARD = tf.constant(
    [[[[1.0, 1.0], [0.0, 4.0]]], [[[2.0, 1.0], [1.0, 1.0]]], [[[0.0, 1.0], [0.0, 0.0]]]]
)
ROLLOUT = Rollout(REWARD, None, None)


def test_thompson_scores_by_its_only_draw():
    alone = Rollout(REWARD[1:2], None, None)
    assert Thompson("episode", 1)(alone, 0.0).numpy().tolist() == [[3.0, 2.0]]


def test_mean_over_draws_is_the_mean_return():
    assert MeanOverDraws(3, "each")(ROLLOUT, 0.0).numpy().tolist() == [[2.0, 2.0]]


@pytest.mark.parametrize(
    ("strategy", "trajectories", "filters"),
    [
        (Thompson("episode", 1), "group", True),
        (Thompson("decision", 1), "group", False),
        (Thompson("episode", 5), "group", False),
        (MeanOverDraws(5, "switching"), "switching", False),
    ],
)
def test_only_one_draw_for_an_episode_filters_with_it(strategy, trajectories, filters):
    assert strategy.trajectories == trajectories
    assert strategy.filter_with_draw == filters


def test_each_draw_of_thompson_sampling_has_a_plan_of_its_own():
    assert Thompson("episode", 5).groups == 5
    assert Thompson("episode", 1).groups == MeanOverDraws(5, "each").groups == 1


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: Thompson("step", 1),
            "redraw must be episode or decision, got 'step'",
        ),
        (lambda: Thompson("episode", 0), "draws must be at least 1, got 0"),
        (lambda: MeanOverDraws(5, "mean"), "trajectories must be each, "),
    ],
)
def test_wrong_arguments_are_named(make, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        make()


def test_greedy_scores_are_returns():
    reward = np.random.default_rng(0).normal(size=[1, 2, 3, 4])
    latent = tf.zeros([1, 2, 3, 4, 5])
    rollout = Rollout(tf.constant(reward), latent, latent)
    np.testing.assert_allclose(Greedy()(rollout, Elapsed()), reward[0].sum(-1))


def test_greedy_needs_no_draws():
    assert Greedy().draws == 0
