"""Tests of agents.training.distributed.learner."""

import contextlib

import pytest

from agents.episodes.replay import Replay
from agents.episodes.store import EpisodeStore, pack
from agents.training.distributed import cluster, learner
from agents.training.distributed.learner import CollectedByActors


class Told:
    """Stands for a process; hands over what the test gives it."""

    made = []

    def __init__(self, name, kind, *given, **_):
        self.name, self.given, self.begun, self.done = name, given, [], None
        self.pending, self.is_idle = [], True
        Told.made.append(self)

    def begin(self, method, *given):
        self.begun.append((method, *given))
        self.is_idle = False

    def result(self):
        done, self.done = self.done, None
        self.is_idle = self.is_idle or done is not None
        return done

    def watch(self):
        pass


@pytest.fixture
def experience(config, run, monkeypatch):
    monkeypatch.setattr(Told, "made", [])
    monkeypatch.setattr(learner, "Remote", Told)
    monkeypatch.setattr(cluster, "check", lambda: None)
    monkeypatch.setattr(learner.ray, "put", lambda vectors: vectors)
    with contextlib.closing(CollectedByActors(config, run)) as made:
        yield made


def numbers(store):
    return [int(episode["number"]) for _, episode in store]


def test_the_replay_is_that_of_one_process(experience):
    assert type(experience.replay) is Replay


def test_finished_episodes_are_on_disk_the_lowest_number_first(
    experience, run, make_episode, build_agent
):
    first, second = Told.made
    experience.learned(build_agent())
    assert [each.begun[0][2] for each in Told.made] == [[0], [1]]
    second.done = [(1, pack(make_episode(1, rows=6)))]
    first.done = [(0, pack(make_episode(0, rows=6)))]
    experience.learned(build_agent())
    assert numbers(EpisodeStore(run.episodes)) == [0, 1]


def test_an_actor_goes_on_once_its_last_episode_counts(
    experience, make_episode, build_agent
):
    agent, (first, second) = build_agent(), Told.made
    experience.learned(agent)
    second.done = [(1, pack(make_episode(1, rows=6)))]
    experience.collect(agent)
    assert len(second.begun) == 1
    agent.clock.advance(episodes=1, agent_steps=5, environment_steps=5)
    experience.learned(agent)
    assert second.begun[1][2] == [3]
    assert len(first.begun) == 1


def test_weights_are_sent_once_for_all_and_anew_when_they_have_changed(
    experience, make_episode, build_agent
):
    agent, (first, second) = build_agent(), Told.made
    experience.learned(agent)
    assert first.begun[0][1] is second.begun[0][1]
    first.done = [(0, pack(make_episode(0, rows=6)))]
    experience.collect(agent)
    agent.train_step_counter.assign_add(1)
    agent.clock.advance(episodes=1, agent_steps=5, environment_steps=5)
    experience.learned(agent)
    assert [first.begun[n][1]["int64"][-1] for n in (0, 1)] == [0, 1]  # train steps


def test_after_a_restart_actors_go_on_after_their_last_episode(
    config, run, make_episode, experience, build_agent
):
    EpisodeStore(run.episodes).append(make_episode(3, rows=6))
    Told.made.clear()
    with contextlib.closing(CollectedByActors(config, run)) as again:
        agent = build_agent()
        again.learned(agent)
        assert not any(each.begun for each in Told.made)  # what there is counts first
        agent.clock.advance(episodes=1, agent_steps=5, environment_steps=5)
        again.learned(agent)
        assert [each.begun[0][2] for each in Told.made] == [[0], [5]]


def test_an_actor_of_ray_brings_episodes(here, make_config, run, build_agent):
    words = ["actors=1", "sequence_length=5", "seed_steps=180"]
    config, agent = make_config(*words, f"logdir={run.folder}"), build_agent(*words)
    with contextlib.closing(CollectedByActors(config, run)) as experience:
        for counted in range(4):
            experience.collect(agent)
            agent.clock.advance(counted + 1, agent_steps=20, environment_steps=20)
        found = numbers(experience.store)
    assert len(set(found)) == len(found) >= 4
