"""Tests of agents.episodes.evaluation."""

import numpy as np
import pytest

from agents.episodes import evaluation
from agents.episodes.collecting import first_episodes
from agents.episodes.environments import load_environments
from agents.episodes.evaluation import Evaluator, fresh_episodes
from agents.episodes.layout import episode_return
from agents.episodes.store import EpisodeStore


@pytest.fixture(scope="module")
def evaluator(whole_agent):
    """Compiled for each number of environments, which takes seconds: one and two."""
    return Evaluator(*whole_agent)


@pytest.mark.slow
def test_each_episode_has_a_seed_and_a_start_of_its_own(evaluator):
    results = evaluator.episodes(2)
    assert len({seed for seed, _ in results}) == 2
    assert len({float(episode["position"][0, 0]) for _, episode in results}) == 2


def test_evaluations_face_the_same_starts_and_act_alike(evaluator):
    for (seed, one), (again, other) in zip(
        evaluator.episodes(2), evaluator.episodes(2), strict=True
    ):
        assert seed == again
        np.testing.assert_allclose(one["action"], other["action"], atol=1e-3)


def test_more_episodes_than_stand_side_by_side_are_run(evaluator, monkeypatch):
    monkeypatch.setattr("agents.episodes.evaluation.TOGETHER", 2)
    assert len({seed for seed, _ in evaluator.episodes(3)}) == 3


def test_no_two_episodes_have_the_random_numbers_of_one(evaluator, monkeypatch):
    numbers = []

    def spied(environment, policy, train_step):
        state = policy.get_initial_state(environment.batch_size)
        numbers.extend(np.asarray(state["next_episode"]))
        return first_episodes(environment, policy, train_step)

    monkeypatch.setattr(evaluation, "TOGETHER", 2)
    monkeypatch.setattr(evaluation, "first_episodes", spied)
    evaluator.episodes(5)
    assert [number - numbers[0] for number in numbers] == [0, 1, 2, 3, 4]


@pytest.mark.slow
def test_another_policy_can_be_evaluated(evaluator, whole_agent):
    config, agent = whole_agent
    noisy = Evaluator(config, agent, agent.collect_policy)
    ((_, plain), (_, other)) = (each.episodes(1)[0] for each in (evaluator, noisy))
    assert not np.allclose(plain["action"], other["action"], atol=1e-3)


def test_return_is_the_sum_of_rewards(evaluator):
    ((_, episode),) = evaluator.episodes(1)
    assert episode_return(episode) == pytest.approx(
        np.sum(1 - np.abs(episode["position"][1:]))
    )


def test_environments_are_loaded_once_and_closed_at_the_end(evaluator, monkeypatch):
    made = []

    def spied(*args, **settings):
        made.append(load_environments(*args, **settings))
        return made[-1]

    evaluator.close()
    monkeypatch.setattr(evaluation, "load_environments", spied)
    first, _, again = (evaluator.episodes(count) for count in (2, 1, 2))
    (batch,) = made
    for (seed, one), (other_seed, other) in zip(first, again, strict=True):
        assert seed == other_seed
        np.testing.assert_array_equal(one["position"][0], other["position"][0])
        np.testing.assert_allclose(one["action"], other["action"], atol=1e-3)
    closed = []
    for each in batch.envs:
        monkeypatch.setattr(each, "close", lambda each=each: closed.append(each))
    evaluator.close()
    assert closed == list(batch.envs)


def starts(episodes):
    return {float(episode["position"][0, 0]) for episode in episodes}


@pytest.mark.slow
def test_episodes_start_where_training_did_not(whole_agent, whole_run, monkeypatch):
    trained_on = starts(episode for _, episode in EpisodeStore(whole_run / "episodes"))
    monkeypatch.setattr("agents.episodes.evaluation.TOGETHER", 2)
    policy, random = (fresh_episodes(*whole_agent, a, 3) for a in ("policy", "random"))
    assert len(starts(policy)) == 3
    assert starts(policy) == starts(random)
    assert not starts(policy) & trained_on


def test_random_actions_are_not_those_of_training(whole_agent, whole_run):
    (episode,) = fresh_episodes(
        *whole_agent, "random", 1
    )  # as many as training runs at once
    for _, seen in EpisodeStore(whole_run / "episodes"):
        assert not np.array_equal(episode["action"], seen["action"])


def test_random_episodes_are_the_same_however_many_run_together(whole_agent, monkeypatch):
    together = fresh_episodes(*whole_agent, "random", 5)
    monkeypatch.setattr("agents.episodes.evaluation.TOGETHER", 2)
    for one, other in zip(together, fresh_episodes(*whole_agent, "random", 5), strict=True):
        for key, array in one.items():
            np.testing.assert_array_equal(other[key], array)


def test_random_episodes_are_the_same_for_every_agent(whole_agent, build_agent):
    config, agent = whole_agent
    other = build_agent("transition=deterministic")
    for one, two in zip(
        *(fresh_episodes(config, each, "random", 2) for each in (agent, other)),
        strict=True,
    ):
        np.testing.assert_array_equal(one["action"], two["action"])
        assert np.std(one["action"][1:]) == pytest.approx(3**-0.5, rel=0.4)
