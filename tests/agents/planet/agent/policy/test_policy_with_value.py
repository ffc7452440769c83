"""Tests of agents.planet.agent.policy where critics stand beside the model."""

import dataclasses

import numpy as np
import pytest
import tensorflow as tf

from agents.planet.action_space import BOX
from agents.planet.explore import Greedy, Thompson
from agents.planet.explore.noise import GaussianNoise
from agents.planet.model.rssm import Latent
from agents.planet.value.actor_critic import ActorCritic
from bayes_rl.weights import hold, mean_weights
from tests.agents.planet.agent.policy.steps import FIRST, ICEM, MID, PLANNER, Idle, Spy, run
from tests.agents.presets import preset


@dataclasses.dataclass(frozen=True)
class Planner(Idle):
    """Keeps what it is offered, and plans nothing."""

    horizon = 3
    common_noise: bool = False
    offered: list = dataclasses.field(default_factory=list)

    def plan(self, score, state, shape, seed, proposals=None, space=BOX):
        self.offered.append((score, proposals, seed))
        return super().plan(score, state, shape, seed)


class NoPlanner(Planner):
    def plan(self, *args, **kwargs):
        raise AssertionError("the planner was asked")


def make_value(proposals=4, discount=0.9, reward_unit=1.0):
    """Critics and a policy of which nothing is as it was at first."""
    tf.keras.utils.set_random_seed(0)
    settings = preset(
        "value", "td", units=8, layers=1, proposals=proposals, discount=discount
    )
    value, rng = (
        ActorCritic(settings, 9, 1, lambda: reward_unit),
        np.random.default_rng(0),
    )
    for variable in value.trainable_variables:
        variable.assign_add(rng.normal(0.0, 0.5, variable.shape))
    return value


@pytest.fixture
def make_policy(make_policy):
    """Makes a policy with these critics."""

    def make(value, planner=PLANNER, strategy=None, **options):
        return make_policy(strategy, planner, value=value, **options)

    return make


def actions(policy, *time_steps):
    return [step.action.numpy() for step in run(policy, *(time_steps or (FIRST, MID)))]


def test_the_policy_acts_by_its_mode_and_asks_no_planner(make_policy):
    value = make_value()
    steps = run(make_policy(value, NoPlanner(), act="policy"), FIRST, MID)
    for step in steps:
        expected = value.act(Latent(**step.state["latent"]).features)
        np.testing.assert_allclose(step.action, expected, rtol=1e-5)
    assert not np.any(steps[0].action == steps[1].action)
    with pytest.raises(AssertionError, match="the planner was asked"):
        run(make_policy(value, NoPlanner()), FIRST)


def test_strategies_score_in_the_unit_in_which_rewards_are_learned(
    make_policy, model, monkeypatch
):
    """So that a floor or a beta serves rewards of any size."""
    scored = []
    for unit in (1.0, 0.25):
        monkeypatch.setattr(type(model), "reward_unit", property(lambda _, u=unit: u))
        spy = Spy()
        run(make_policy(make_value(reward_unit=unit), PLANNER, spy), FIRST)
        scored.append(spy.rollouts[0][0])
    once, again = scored
    assert np.any(once.reward)
    assert np.any(once.value)
    np.testing.assert_allclose(again.reward, once.reward, rtol=1e-5)
    np.testing.assert_allclose(again.value, once.value, rtol=1e-5)


@pytest.mark.parametrize("common_noise", [False, True])
def test_means_of_latents_are_acted_by_where_they_are_asked_for(make_policy, common_noise):
    value, spy = make_value(), Spy()
    (step,) = run(make_policy(value, PLANNER, spy, latents="means"), FIRST)
    latent = Latent(**step.state["latent"])
    np.testing.assert_array_equal(latent.sample, latent.mean)
    assert not np.any(latent.stddev == 0)
    planner = Planner(common_noise)
    run(make_policy(value, planner, latents="means"), FIRST)
    ((score, proposals, seed),) = planner.offered
    np.testing.assert_array_equal(score(proposals, seed), score(proposals, seed + 1))


def test_noise_is_added_to_the_actions_of_the_policy_too(make_policy):
    value, noise = make_value(), GaussianNoise(0.3, None, 0, False, 0.0)
    quiet, noisy = (
        actions(make_policy(value, NoPlanner(), noise=each, act="policy"), FIRST)[0]
        for each in (None, noise)
    )
    assert 0 < np.abs(quiet - noisy).max() < 2


def test_plans_are_worth_their_last_state_too(make_policy):
    value, spy = make_value(), Spy()
    run(make_policy(value, strategy=spy), FIRST)
    assert spy.rollouts
    for rollout, _ in spy.rollouts:
        assert rollout.value.shape == rollout.reward.shape[:3]
        assert np.abs(rollout.value).min() > 0
        assert np.ptp(rollout.value, axis=0).max() > 1e-4, "the draws share a value"


def test_the_planner_is_offered_what_the_policy_proposes_under_the_mean_weights(
    make_policy, model
):
    value, planner = make_value(), Planner()
    (step,) = run(make_policy(value, planner, strategy=Spy()), FIRST)
    ((_, proposals, seed),) = planner.offered
    assert proposals.shape == (2, 4, 3, 1)
    now = Latent(**step.state["latent"])
    with hold(model, mean_weights(model)):
        for step in range(3):
            action = value.act(now.features)
            np.testing.assert_allclose(proposals[:, 0, step], action, rtol=1e-3, atol=1e-5)
            now = model.rssm.imagine_step(now, action, 0.0)
    for name in ("none", "zero"):
        none = Planner()
        run(make_policy(None if name == "none" else make_value(0), none), FIRST)
        ((_, proposals, same),) = none.offered
        assert proposals is None
        np.testing.assert_array_equal(seed, same)


@pytest.mark.parametrize(
    ("planner", "strategy"),
    [(PLANNER, Greedy()), (ICEM, Thompson("episode", 3))],
    ids=["cem-1", "icem-3"],
)
def test_critics_to_whom_all_is_the_same_and_no_proposals_change_nothing(
    make_policy, planner, strategy
):
    value = make_value(proposals=0)
    value.discount = value.return_lambda = 1.0
    value.value = lambda features: tf.zeros(features.shape[:-1])
    plain, same = (
        actions(make_policy(v, planner, strategy), FIRST)[0] for v in (None, value)
    )
    np.testing.assert_allclose(same, plain, atol=1e-6)
    value.value = make_value().value
    (other,) = actions(make_policy(value, planner, strategy), FIRST)
    assert np.abs(other - plain).max() > 1e-4


def test_a_policy_that_knows_the_reward_proposes_rest_until_reward_counts(
    make_policy, clock
):
    strategy = preset("explore", "information_gain", reward_from=50)
    planner = Planner()
    policy = make_policy(make_value(), planner, strategy)
    for steps in (49, 1):
        clock.advance(episodes=1, agent_steps=steps, environment_steps=steps)
        run(policy, FIRST)
    before, from_then_on = (proposals.numpy() for _, proposals, _ in planner.offered)
    assert not before.any()
    assert from_then_on.any()
