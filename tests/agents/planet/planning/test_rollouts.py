"""Tests of agents.planet.planning.rollouts, with a model of the cliff that is exact."""

import numpy as np
import pytest
import tensorflow as tf

from agents.planet.explore import Greedy
from agents.planet.explore.strategy import Elapsed, over_horizon
from agents.planet.model.rssm import Latent
from agents.planet.planning.imagination import imagine_with_mean_weights
from agents.planet.planning.rollouts import Layout
from envs.simulations.fake import EDGE, REACH
from tests.agents.presets import preset

HORIZON = 5


class Cliff(tf.Module):
    """A point at `sample` that actions move; its episode ends beyond the edge."""

    def __init__(self, reward, knows_the_end=True):
        super().__init__()
        self.rssm = self
        self.reward = reward
        self._knows_the_end = knows_the_end
        self.central_weights = dict

    def imagine(self, start, actions, noise):
        del noise
        position = start.sample + REACH * tf.cumsum(actions, axis=0)
        return Latent(position[..., :0], position, tf.ones_like(position), position)

    def continuation(self, features):
        has_fallen = (features[..., 0] > EDGE) & self._knows_the_end
        return 1.0 - tf.cast(has_fallen, tf.float32)


def at(position):
    latent = tf.fill([1, 1], position)
    return Latent(latent[:, :0], latent, latent, latent)


def best_plan(model, start):
    """Positions after each action of the plan that the planner makes, [H]."""
    counts = {"candidates": 400, "elites": 20, "iterations": 8}
    planner = preset("planner", "cem", horizon=HORIZON, **counts)

    def score(plans, seed):
        del seed
        rollout = imagine_with_mean_weights(model, at(start), plans, tf.zeros_like(plans))
        return Greedy()(rollout, Elapsed())

    plan, _ = planner.plan(score, (), (1, 1), tf.constant([0, 1]))
    return start + REACH * np.cumsum(plan.actions)


def test_a_step_is_reached_by_what_went_on_before_it(model):
    class Half:
        reward = staticmethod(lambda features: features[..., 0])
        continuation = staticmethod(lambda features: features[..., 0])

    # [H, B * N, D]: two environments, one plan each
    chances = tf.constant([[[0.5], [1.0]], [[0.2], [0.0]], [[0.9], [0.7]]])
    latents = Latent(chances[..., :0], chances, chances, chances)
    rollout = Layout(tf.zeros([2, 1, 3, 1]), draws=1).rollout(Half(), latents)
    expected = [[[1.0, 0.5, 0.1]], [[1.0, 1.0, 0.0]]]
    np.testing.assert_allclose(rollout.reached, [expected], rtol=1e-6)
    np.testing.assert_allclose(
        Greedy()(rollout, Elapsed()), [[0.5 + 0.1 + 0.09], [1.0]], rtol=1e-6
    )


def test_where_nothing_can_end_rewards_are_summed_as_they_are(model, noise):
    latents = Latent(*(noise(4, 6, size, seed=size) for size in (6, 3, 3, 3)))
    rollout = Layout(tf.zeros([2, 3, 4, 1]), draws=1).rollout(model, latents)
    score = Greedy()(rollout, Elapsed())
    np.testing.assert_array_equal(score, tf.reduce_sum(rollout.reward, -1)[0])


@pytest.mark.parametrize("start", [0.2, 0.45])
def test_a_planner_that_knows_the_end_stays_before_it_for_the_reward(start):
    def reward(features):
        return 1.0 + features[..., 0]

    positions = best_plan(Cliff(reward), start)
    assert positions[:-1].max() <= EDGE < positions[-1], "the last step may go over"
    assert best_plan(Cliff(reward, knows_the_end=False), start)[-2] > EDGE


def test_a_planner_ends_an_episode_that_costs_more_than_its_end():
    positions = best_plan(Cliff(lambda features: -tf.ones_like(features[..., 0])), 0.42)
    assert positions[0] > EDGE


class Half:
    """Rewards and chances to go on are what the state says."""

    reward = staticmethod(lambda features: features[..., 0])
    continuation = staticmethod(lambda features: features[..., 0])


class Tenfold:
    """A state is worth ten times what it says."""

    discount, return_lambda = 0.5, 1.0
    value = staticmethod(lambda features: 10.0 * features[..., 0])
    novelty = staticmethod(lambda features: -3.0 * features[..., 0])


def test_a_value_counts_as_its_state_is_reached_and_discounted():
    # [H, B * N, D]: two environments, one plan each
    chances = tf.constant([[[0.5], [1.0]], [[0.2], [0.0]], [[0.9], [0.7]]])
    latents = Latent(chances[..., :0], chances, chances, chances)
    layout = Layout(tf.zeros([2, 1, 3, 1]), draws=1, value=Tenfold())
    rollout = layout.rollout(Half(), latents)
    reached = [[[1.0, 0.25, 0.025]], [[1.0, 0.5, 0.0]]]
    np.testing.assert_allclose(rollout.reached, [reached], rtol=1e-6)
    value = 0.5**3 * 0.5 * 0.2 * 0.9 * 9.0
    np.testing.assert_allclose(rollout.value, [[[value], [0.0]]], rtol=1e-6)
    np.testing.assert_allclose(rollout.novelty, -0.3 * rollout.value, rtol=1e-6)
    returns = [[0.5 + 0.25 * 0.2 + 0.025 * 0.9 + value], [1.0]]
    np.testing.assert_allclose(Greedy()(rollout, Elapsed()), returns, rtol=1e-6)


@pytest.mark.parametrize("return_lambda", [0.0, 0.3, 1.0])
def test_a_lambda_return_is_that_of_the_recursion(return_lambda):
    """G_k = r_k + discount c_k ((1 - lambda) v_k + lambda G_(k + 1)), at the end v_H."""
    rng = np.random.default_rng(0)
    chances = rng.uniform(0.2, 1.0, [4, 6, 1]).astype(np.float32)
    latents = Latent(chances[..., :0], chances, chances, chances)
    value = Tenfold()
    value.return_lambda = return_lambda
    rollout = Layout(tf.zeros([2, 3, 4, 1]), draws=1, value=value).rollout(Half(), latents)
    later = 10.0 * chances[-1]
    for chance in chances[::-1]:
        later = (1.0 - return_lambda) * 10.0 * chance + return_lambda * later
        later = chance + 0.5 * chance * later
    np.testing.assert_allclose(
        Greedy()(rollout, Elapsed()), later.reshape([2, 3]), rtol=1e-5
    )


def test_what_is_not_a_reward_counts_as_if_lambda_were_1():
    chances = tf.constant([[[0.5]], [[0.2]], [[0.9]]])
    latents = Latent(chances[..., :0], chances, chances, chances)
    found, value = [], Tenfold()
    for value.return_lambda in (0.0, 1.0):
        layout = Layout(tf.zeros([1, 1, 3, 1]), draws=1, value=value)
        rollout = layout.rollout(Half(), latents)
        found.append(over_horizon(rollout, tf.ones([1, 1, 1, 3])))
    np.testing.assert_allclose(found[0], found[1])


def test_values_of_plans_and_draws_keep_their_places():
    numbers = tf.reshape(tf.range(2.0 * 2 * 3 * 4), [2, 2 * 3, 4, 1])  # [H, B * S, N, D]
    latents = Latent(numbers[..., :0], numbers, numbers, numbers)
    layout = Layout(tf.zeros([2, 4, 2, 1]), draws=3, value=Tenfold())
    found = layout.rollout(Endless(), latents).value
    last = 10.0 * 0.5**2 * numbers[-1, ..., 0].numpy().reshape([2, 3, 4])
    np.testing.assert_allclose(found, last.transpose([1, 0, 2]))


class Endless(Half):
    continuation = staticmethod(lambda features: tf.ones_like(features[..., 0]))
