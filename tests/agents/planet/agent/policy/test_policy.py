"""Tests of agents.planet.agent.policy: states and actions."""

import numpy as np
import pytest
import tensorflow as tf
from tf_agents.drivers import py_driver
from tf_agents.policies import py_tf_eager_policy
from tf_agents.trajectories import time_step as ts

from agents.planet.action_space import BOX
from agents.planet.explore import Greedy, Thompson
from agents.planet.explore.noise import GaussianNoise
from agents.planet.model.rssm import Latent
from agents.planet.planning.planner import Plan
from bayes_rl.weights import hold, mean_weights
from tests.agents.planet.agent.policy.steps import (
    ENVIRONMENTS,
    FIRST,
    ICEM,
    MID,
    NOISE,
    PLANNER,
    Idle,
    Spy,
    observe,
    run,
)


@pytest.mark.parametrize(
    ("strategy", "planner"),
    [
        (Greedy(), PLANNER),
        (Thompson("episode", 1), ICEM),
        (Thompson("episode", 3), PLANNER),
        (Thompson("episode", 3), ICEM),
    ],
)
def test_actions_and_states_are_as_specified(make_policy, strategy, planner):
    policy = make_policy(strategy, planner, GaussianNoise(5.0, None, 0, False, 0.0))
    for step in run(policy, FIRST, MID):
        assert step.action.shape == (ENVIRONMENTS, 1)
        assert np.abs(step.action).max() <= 1
        tf.nest.map_structure(
            lambda spec, tensor: tf.debugging.assert_equal(
                spec.is_compatible_with(tensor[0]), True
            ),
            policy.policy_state_spec,
            step.state,
        )


def test_the_state_starts_anew_where_an_episode_does(make_policy):
    policy = make_policy(planner=ICEM)
    *_, last = run(policy, FIRST, MID)
    types = [ts.StepType.FIRST, ts.StepType.MID]
    mixed = policy.action(observe([[0.3, 0.0], [-0.6, 0.1]], types), last.state)
    np.testing.assert_array_equal(mixed.state["decision"], [1, 3])

    anew = policy.action(FIRST, policy.get_initial_state(ENVIRONMENTS)).state
    np.testing.assert_allclose(
        mixed.state["latent"]["belief"][0], anew["latent"]["belief"][0], rtol=1e-5
    )
    assert not np.allclose(mixed.state["latent"]["belief"][1], anew["latent"]["belief"][1])


def test_the_latent_is_filtered_by_the_mean_weights_with_the_executed_action(
    make_policy, model
):
    noise = GaussianNoise(0.5, None, 0, False, 0.0)
    first, second = run(make_policy(planner=Idle(), noise=noise), FIRST, MID)
    np.testing.assert_array_equal(first.state["action"], first.action)
    with hold(model, mean_weights(model)):
        expected = model.rssm.filter(
            Latent(**first.state["latent"]),
            model.parts["observation"].encode(MID.observation["observation"]),
            first.action,
            tf.constant([False, False]),
            tf.zeros([ENVIRONMENTS, 3]),
        )
    latent = second.state["latent"]
    for name in ("belief", "mean", "stddev"):
        np.testing.assert_allclose(latent[name], getattr(expected, name), rtol=1e-4)
    assert np.abs(latent["sample"] - latent["mean"]).min() > 1e-4, "nothing was sampled"


def test_the_action_is_the_first_of_the_plan_and_noise_knows_its_spread(make_policy):
    class Fixed(Idle):
        def plan(self, score, state, shape, seed, proposals=None, space=BOX):
            actions = tf.constant([[[0.25], [1.0]], [[-0.5], [1.0]]])
            return Plan(actions, tf.constant([[[0.1], [9.0]], [[0.2], [9.0]]])), state

    def noise(action, steps, seed, spread, episode, space):
        del steps, seed, episode, space
        return action + spread

    (step,) = run(make_policy(planner=Fixed()), FIRST)
    np.testing.assert_array_equal(step.action, [[0.25], [-0.5]])
    (step,) = run(make_policy(planner=Fixed(), noise=noise), FIRST)
    np.testing.assert_allclose(step.action, [[0.35], [-0.3]])


def test_without_noise_the_action_is_that_of_the_plan(make_policy):
    quiet, noisy, silent = (
        run(make_policy(noise=noise), FIRST)[0].action.numpy()
        for noise in (None, NOISE, GaussianNoise(0.0, None, 0, False, 0.0))
    )
    np.testing.assert_array_equal(quiet, silent)
    assert not np.any(quiet == noisy)


def test_noise_follows_its_schedule(make_policy, clock):
    noise = GaussianNoise(0.3, 0.0, 10, False, 0.0)
    clock.environment_steps.assign(10)
    quiet, noisy = (
        run(make_policy(planner=Idle(), noise=n), FIRST)[0].action for n in (None, noise)
    )
    np.testing.assert_array_equal(quiet, noisy)


def test_a_strategy_is_told_what_has_elapsed(make_policy, clock):
    spy = Spy()
    clock.environment_steps.assign(25)
    run(make_policy(spy), FIRST)
    assert {int(each.environment_steps) for _, each in spy.rollouts} == {25}


def test_a_driver_runs_whole_episodes(make_policy, environment):
    trajectories = []
    policy = py_tf_eager_policy.PyTFEagerPolicy(
        make_policy(noise=NOISE), use_tf_function=True, batch_time_steps=False
    )
    driver = py_driver.PyDriver(
        environment, policy, [trajectories.append], max_episodes=ENVIRONMENTS
    )
    driver.run(environment.reset(), policy.get_initial_state(ENVIRONMENTS))
    actions = np.array([trajectory.action for trajectory in trajectories])
    assert len(actions) >= 20
    assert np.abs(actions).max() <= 1
    assert np.ptp(actions) > 0
