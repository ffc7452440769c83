"""Tests of agents.planet.agent.policy: how it uses draws of the weights."""

import dataclasses

import numpy as np
import pytest
import tensorflow as tf

from agents.planet.action_space import BOX
from agents.planet.explore import Greedy
from agents.planet.model.rssm import Latent
from agents.planet.planning import imagination
from bayes_rl.weights import hold, sample_weights
from tests.agents.planet.agent.policy.steps import (
    ENVIRONMENTS,
    FIRST,
    MID,
    PLANNER,
    Idle,
    Spy,
    run,
)
from tests.agents.presets import preset


def means(spy):
    """Predicted latents [S, B, N, H, D] of each planner iteration."""
    return [rollout.mean.numpy() for rollout, _ in spy.rollouts]


@pytest.mark.parametrize(
    ("trajectories", "rewards", "predictions", "redraw", "filter_with_draw"),
    [
        ("each", 2, 2, "episode", False),
        ("switching", 2, 2, "decision", True),
        ("shared", 1, 2, "decision", False),
        ("average", 1, 1, "episode", True),
    ],
)
def test_strategies_choose_how_draws_are_used(
    make_policy, trajectories, rewards, predictions, redraw, filter_with_draw
):
    spy = Spy(redraw=redraw, trajectories=trajectories, filter_with_draw=filter_with_draw)
    planner = preset("planner", "cem", horizon=3, candidates=6, elites=2, iterations=1)
    run(make_policy(spy, planner), FIRST, MID)
    assert spy.rollouts
    for rollout, elapsed in spy.rollouts:
        assert rollout.reward.shape == (rewards, ENVIRONMENTS, 6, 3)
        assert rollout.mean.shape == (predictions, ENVIRONMENTS, 6, 3, 3)
        assert float(elapsed.environment_steps) == 0.0
    if predictions == 1:
        return
    for mean in means(spy):
        assert np.ptp(mean, axis=0).max() > 1e-3, "the draws agree"


@pytest.mark.parametrize("compile", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_without_a_bonus_an_agent_acts_as_a_greedy_one(make_policy, clock, compile):
    schedule = {"final_beta": 0.0, "annealing_steps": 20, "bonus_from": 10}
    seeks = preset("explore", "information_gain", beta=100.0, **schedule)
    policies = [make_policy(each, compile=compile) for each in (seeks, Greedy())]
    for steps, same in ((9, True), (10, False), (19, False), (20, True)):
        clock.environment_steps.assign(steps)
        found, greedy = (run(policy, FIRST)[-1].action for policy in policies)
        assert np.allclose(found, greedy, atol=1e-5) is same


def test_an_agent_acts_as_a_greedy_one_once_reward_is_common(make_policy, clock):
    phases = {"annealing_steps": None, "annealing_episodes": 3}
    seeks = preset("explore", "information_gain", beta=100.0, final_beta=0.0, **phases)
    clock.rewards = tf.Variable(0, dtype=tf.int64)
    policy = make_policy(seeks)
    (greedy,) = run(make_policy(Greedy()), FIRST)
    for count, same in ((2, False), (3, True)):
        clock.rewards.assign(count)
        (step,) = run(policy, FIRST)
        assert np.array_equal(step.action, greedy.action) is same


def test_what_draws_cost_ends_with_the_bonus(make_policy, clock, monkeypatch):
    imagined = {name: 0 for name in ("shared", "mean")}
    for name in imagined:
        monkeypatch.setitem(imagination.TRAJECTORIES, name, counting(imagined, name))
    clock.environment_steps.assign(10)
    seeks = preset("explore", "information_gain", final_beta=0.0, annealing_steps=10)
    run(make_policy(seeks, PLANNER), FIRST)
    assert imagined == {"shared": 0, "mean": PLANNER.iterations}


def counting(counts, name):
    """A way to imagine that counts how often it is taken."""
    imagine = imagination.TRAJECTORIES[name]

    def counted(*words):
        counts[name] += 1
        return imagine(*words)

    return counted


def test_of_the_groups_the_plan_best_under_its_own_draw_is_acted_on(make_policy):
    spy = Spy(draws=3, trajectories="group", groups=3)
    planner = preset("planner", "icem", horizon=3, candidates=12, elites=4, iterations=2)
    (step,) = run(make_policy(spy, planner), FIRST)
    *searched, (last, _) = spy.rollouts
    assert [rollout.reward.shape[2] % 3 for rollout, _ in searched] == [0, 0]
    assert last.reward.shape == (1, ENVIRONMENTS, 3, 3)
    plans, _ = step.state["planner"]  # [B, S, H, A]
    best = np.argmax(np.sum(last.reward[0], axis=-1), axis=1)
    for number, group in enumerate(best):
        np.testing.assert_array_equal(step.action[number], plans[number, group, 0])


def seen_weights(monkeypatch, policy, *time_steps):
    """Seeds from which the policy draws weights, decision by decision."""
    seeds = []

    def spied(model, count, seed):
        seeds.append(tuple(seed.numpy()))
        return sample_weights(model, [count], seed)

    monkeypatch.setattr(policy._model.source, "draw", spied)
    run(policy, *time_steps)
    return [seeds[start : start + 2] for start in range(0, len(seeds), 2)]


def test_draws_of_an_episode_are_held_for_all_its_decisions(monkeypatch, make_policy):
    policy = make_policy(Spy(), planner=Idle())
    first, second = seen_weights(monkeypatch, policy, FIRST, MID)
    assert first == second
    assert first[0] != first[1], "environments share a draw"


def test_draws_of_decisions_change(monkeypatch, make_policy):
    policy = make_policy(Spy(redraw="decision"), planner=Idle())
    first, second = seen_weights(monkeypatch, policy, FIRST, MID)
    assert len({*first, *second}) == 4


def test_the_filter_uses_the_first_draw_where_asked(make_policy, model):
    spy = Spy(filter_with_draw=True)
    policy = make_policy(spy, planner=Idle())
    first, second = run(policy, FIRST, MID)
    for number in range(ENVIRONMENTS):
        draw = sample_weights(model, [2], first.state["seed"][number])
        with hold(model, {name: value[0] for name, value in draw.items()}):
            expected = model.rssm.filter(
                Latent(*(state[number][None] for state in first.state["latent"].values())),
                model.parts["observation"].encode(
                    MID.observation["observation"][number][None]
                ),
                first.action[number][None],
                tf.constant([False]),
                tf.zeros([1, 3]),
            )
        found = second.state["latent"]["belief"][number]
        np.testing.assert_allclose(found, expected.belief[0], rtol=1e-4)


def test_with_common_noise_equal_plans_score_the_same(make_policy):
    @dataclasses.dataclass(frozen=True)
    class Twins(Idle):
        """Scores two equal plans and keeps the scores."""

        common_noise: bool
        scores: list = dataclasses.field(default_factory=list)

        def plan(self, score, state, shape, seed, proposals=None, space=BOX):
            self.scores.append(score(tf.zeros([ENVIRONMENTS, 2, 3, 1]), seed))
            return super().plan(score, state, shape, seed)

    for common_noise in (True, False):
        planner = Twins(common_noise)
        run(make_policy(planner=planner), FIRST)
        first, second = np.transpose(planner.scores[0])
        assert np.allclose(first, second) == common_noise
