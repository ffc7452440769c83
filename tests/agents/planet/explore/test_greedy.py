"""Tests of agents.planet.explore.greedy."""

import numpy as np
import tensorflow as tf

from agents.planet.explore import Greedy
from agents.planet.explore.strategy import Elapsed
from agents.planet.planning.rollouts import Rollout


def test_greedy_scores_are_returns():
    reward = np.random.default_rng(0).normal(size=[1, 2, 3, 4])
    latent = tf.zeros([1, 2, 3, 4, 5])
    rollout = Rollout(tf.constant(reward), latent, latent)
    np.testing.assert_allclose(Greedy()(rollout, Elapsed()), reward[0].sum(-1))


def test_greedy_needs_no_draws():
    assert Greedy().draws == 0
