"""Tests of agents.episodes.held_out."""

import numpy as np
import pytest

from agents.episodes.held_out import held_out_episodes
from agents.episodes.store import EpisodeStore


def starts(episodes):
    return {float(episode["position"][0, 0]) for episode in episodes}


def test_episodes_start_where_training_did_not(whole_agent, whole_run, monkeypatch):
    trained_on = starts(episode for _, episode in EpisodeStore(whole_run / "episodes"))
    monkeypatch.setattr("agents.episodes.evaluation.TOGETHER", 2)
    policy, random = (held_out_episodes(*whole_agent, a, 3) for a in ("policy", "random"))
    assert len(starts(policy)) == 3
    assert starts(policy) == starts(random)
    assert not starts(policy) & trained_on


def test_random_actions_are_not_those_of_training(whole_agent, whole_run):
    (episode,) = held_out_episodes(
        *whole_agent, "random", 1
    )  # as many as training runs at once
    for _, seen in EpisodeStore(whole_run / "episodes"):
        assert not np.array_equal(episode["action"], seen["action"])


def test_random_episodes_are_the_same_however_many_run_together(whole_agent, monkeypatch):
    together = held_out_episodes(*whole_agent, "random", 5)
    monkeypatch.setattr("agents.episodes.evaluation.TOGETHER", 2)
    for one, other in zip(
        together, held_out_episodes(*whole_agent, "random", 5), strict=True
    ):
        for key, array in one.items():
            np.testing.assert_array_equal(other[key], array)


def test_random_episodes_are_the_same_for_every_agent(whole_agent, build_agent):
    config, agent = whole_agent
    other = build_agent("transition=deterministic")
    for one, two in zip(
        *(held_out_episodes(config, each, "random", 2) for each in (agent, other)),
        strict=True,
    ):
        np.testing.assert_array_equal(one["action"], two["action"])
        assert np.std(one["action"][1:]) == pytest.approx(3**-0.5, rel=0.4)
