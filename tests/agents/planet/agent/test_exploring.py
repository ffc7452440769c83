"""An agent whose bonus has a value beyond the horizon."""

import numpy as np
import pytest
import tensorflow as tf

from bayes_rl.weights import hold
from docs.making.reference import columns

WORDS = ["value=td", "explore=information_gain", "value.target_rate=0.5"]
CRITIC = ["explore.critic=true", "explore.beta_rate=0.5"]


@pytest.fixture(scope="module")
def batch(make_batch):
    return make_batch(4, 5)


@pytest.fixture(scope="module")
def make(build_agent, batch):
    """Makes an agent that has taken some gradient steps."""

    def make(*words, steps=2):
        agent = build_agent(*WORDS, *words)
        agent.clock.advance(episodes=1, agent_steps=100, environment_steps=100)
        for _ in range(steps):
            agent.train(batch)
        return agent

    return make


@pytest.fixture(scope="module")
def agent(make):
    return make(*CRITIC)


@pytest.mark.slow
def test_what_a_step_tells_is_explained(agent):
    for name in agent.metric_names:
        assert columns.meaning(f"train/{name}")


def test_a_step_moves_all_of_the_explorer_and_nothing_else_otherwise(agent, make):
    plain, fresh = make(), make(*CRITIC, steps=0)
    for mine, theirs in zip(agent.model.variables, plain.model.variables, strict=True):
        np.testing.assert_array_equal(mine, theirs)
    names = ("_critics", "_slow", "_policy")
    for name in names:
        pair = (getattr(each.value, name).variables for each in (agent, plain))
        for mine, theirs in zip(*pair, strict=True):
            np.testing.assert_array_equal(mine, theirs)
    both = (each.value.explorer.variables for each in (agent, fresh))
    for now, old in zip(*both, strict=True):
        assert np.any(now.numpy() != old.numpy()), f"{now.name} was not moved"


def test_the_explorer_learns_by_the_schedule_of_the_strategy(make):
    words = ["explore.final_beta=0.01", "explore.annealing_steps=200"]
    agent = make("explore.critic=true", "explore.reward_from=100", *words, steps=0)
    expected = {0: (0.05, 0.0), 99: (0.0302, 0.0), 100: (0.03, 1.0), 200: (0.01, 1.0)}
    for steps, (beta, of_return) in expected.items():
        agent.clock.environment_steps.assign(steps)
        found = agent._sought(tf.constant([0, 1]))
        assert float(found.beta) == pytest.approx(beta, abs=1e-6)
        assert float(found.of_return) == of_return


def test_metrics_tell_of_the_bonus(agent, batch):
    agent.pop_metrics()
    agent.train(batch)
    found = agent.pop_metrics()
    assert found["bonus"] > 0
    assert found["beta"] == pytest.approx(0.05, rel=0.5)
    assert np.isfinite(found["novelty_loss"] + found["explorer_loss"])


def test_a_checkpoint_goes_on_as_if_nothing_had_been(agent, make, batch, tmp_path):
    other = make(*CRITIC, steps=0)
    path = tf.train.Checkpoint(agent=agent).save(tmp_path / "checkpoint")
    tf.train.Checkpoint(agent=other).restore(path).assert_existing_objects_matched()
    for each in (agent, other):
        each.train(batch)
    for mine, theirs in zip(agent.value.variables, other.value.variables, strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_plans_are_scored_by_what_comes_after_them(agent, environment, monkeypatch):
    policy, scored = agent.collect_policy, []
    scheduled = policy.strategy.scheduled(agent.clock.elapsed)
    beta = float(agent.value.explorer.beta(scheduled))
    assert beta != float(scheduled), "it was not tuned"
    kind = type(policy.strategy)

    def spied(strategy, rollout, weight, elapsed):
        scored.append((rollout, float(weight)))
        return score(strategy, rollout, weight, elapsed)

    score = kind.score
    monkeypatch.setattr(kind, "score", spied)
    policy.action(environment.reset(), policy.get_initial_state(2))
    rollout, weight = scored[0]
    assert weight == pytest.approx(beta)
    assert np.ptp(rollout.novelty) > 0
    before = len(scored)
    agent.policy.action(environment.reset(), agent.policy.get_initial_state(2))
    assert len(scored) == before, "evaluation explores"


def test_the_explorer_proposes_plans_of_exploration_alone(agent, environment, monkeypatch):
    asked, propose = [], agent.value.propose
    monkeypatch.setattr(
        agent.value, "propose", lambda *args: asked.append(args[4]) or propose(*args)
    )
    for policy in (agent.collect_policy, agent.policy):
        policy.action(environment.reset(), policy.get_initial_state(2))
    assert asked == [True, False]


def test_the_proposals_of_an_explorer_are_those_of_its_policy(agent):
    model, value = agent.model, agent.value
    latent = model.rssm.initial(3)
    with hold(model, model.central_weights()):
        plans = value.propose(model, latent, 2, tf.constant([1, 2]), True)
    expected = value.explorer.policy.mode(latent.features)
    np.testing.assert_allclose(plans[:, 0, 0], expected, rtol=1e-5)
    assert np.abs(expected - value.act(latent.features)).max() > 1e-6
