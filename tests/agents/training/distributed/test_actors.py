"""Tests of agents.training.distributed.actors, most of them in this process."""

import contextlib
import io
import subprocess

import numpy as np
import pytest

from agents.episodes.experience import CollectedHere
from agents.episodes.replay import Replay
from agents.episodes.store import EpisodeStore, pack
from agents.runs.folder import Run
from agents.runs.records import read_metrics, read_sessions
from agents.system.processes import command_of
from agents.training.distributed import actors, cluster
from agents.training.distributed.actors import Actor, CollectedByActors, with_own_noise
from agents.training.distributed.weights import Weights, acting_variables


@pytest.fixture
def vectors(build_agent, words):
    agent = build_agent(*words)
    agent.train_step_counter.assign(40)
    return Weights(acting_variables(agent)).read()


@pytest.fixture
def make_actor(config):
    with contextlib.ExitStack() as made:

        def make(number, config=config):
            return made.enter_context(contextlib.closing(Actor(config, number)))

        yield make


def unpacked(pairs):
    return {n: dict(np.load(io.BytesIO(content))) for n, content in pairs}


@pytest.mark.slow
def test_actors_run_the_episodes_of_a_run_that_collects_alone(
    make_actor, vectors, run, make_config, build_agent, words
):
    """Random ones: those of an agent depend on what it has learned."""
    found = {}
    for number in (0, 1):
        found |= unpacked(make_actor(number).collect(vectors, [number]))
    own = [word for word in words if not word.startswith("actors")]
    config, other = make_config(*own, "logdir=unused"), Run(run.folder / "alone")
    with contextlib.closing(CollectedHere(config, other)) as experience:
        for _ in range(2):
            experience.collect(build_agent(*own))
        alone = [experience.store.read(index) for index in (0, 1)]
    assert [*found] == [0, 1]
    for key in ("observation", "action", "reward"):
        np.testing.assert_array_equal(found[0][key], alone[0][key])
    np.testing.assert_array_equal(found[1]["observation"][0], alone[1]["observation"][0])


def test_an_episode_tells_the_steps_of_the_weights_that_acted(make_actor, vectors):
    ((number, episode),) = unpacked(make_actor(1).collect(vectors, [1])).items()
    assert (number, episode["number"], episode["train_steps"]) == (1, 1, 40)


def test_it_goes_on_where_it_stands_and_begins_where_it_is_told(make_actor, vectors):
    actor = make_actor(1)
    first = unpacked(actor.collect(vectors, [1]))[1]
    second = unpacked(actor.collect(vectors, [3]))[3]
    assert not np.array_equal(first["observation"], second["observation"])
    again = unpacked(actor.collect(vectors, [1]))[1]  # it was lost on its way
    np.testing.assert_array_equal(again["observation"], first["observation"])
    of_successor = unpacked(make_actor(1).collect(vectors, [3]))[3]
    np.testing.assert_array_equal(of_successor["observation"], second["observation"])


def test_an_episode_that_was_left_out_is_counted_in_the_one_after_it(make_actor, vectors):
    actor = make_actor(1)
    found = unpacked(actor.collect(vectors, [3], None, 1))
    found |= unpacked(actor.collect(vectors, [5]))
    assert [int(found[number]["failed_episodes"]) for number in (3, 5)] == [1, 0]


def test_after_an_error_the_episode_is_begun_again(make_actor, vectors, monkeypatch):
    actor = make_actor(0)
    first = unpacked(actor.collect(vectors, [0]))[0]
    actor.collect(vectors, [2])
    monkeypatch.setattr(actor._collector, "collect", lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        actor.collect(vectors, [4])
    again = unpacked(actor.collect(vectors, [0]))[0]
    np.testing.assert_array_equal(again["reward"], first["reward"])


@pytest.mark.slow
def test_several_environments_of_an_actor_keep_their_rows(
    make_config, build_agent, make_actor, words
):
    config = make_config(*words, "environments=2", "logdir=unused")
    agent = build_agent(*words)
    vectors = Weights(acting_variables(agent)).read()
    actor = make_actor(1, config)
    assert sorted(dict(actor.collect(vectors, [2, 3]))) == [2, 3]
    assert sorted(dict(actor.collect(vectors, [6, 7]))) == [6, 7]


def test_actors_stand_on_rungs_of_a_ladder_of_noise(config, make_config):
    assert with_own_noise(config, 1) == config
    words = ["actors=3", "noise_ladder=9", "action_noise.stddev=0.3"]
    laddered = make_config(*words, "action_noise.final_stddev=null", "action_noise.steps=0")
    noises = [with_own_noise(laddered, n).action_noise for n in range(3)]
    np.testing.assert_allclose([noise.stddev for noise in noises], [0.1, 0.3, 0.9])
    assert {noise.final_stddev for noise in noises} == {None}


class Told:
    """Stands for a process; hands over what the test gives it."""

    made = []

    def __init__(self, name, kind, *given, **_):
        self.name, self.given, self.begun, self.done = name, given, [], None
        self.pending, self.is_idle, self.late = [], True, 0
        Told.made.append(self)

    def begin(self, method, *given, last):
        self.begun.append((method, *given))
        self.last = last
        self.is_idle = False

    def result(self):
        if self.late:
            self.late -= 1
            return None
        done, self.done = self.done, None
        self.is_idle = self.is_idle or done is not None
        return done

    def brings(self, number, make_episode, late=0):
        """Has finished an episode when it is asked after so many other times."""
        self.done, self.late = [(number, pack(make_episode(number, rows=6)))], late

    def watch(self):
        pass


@pytest.fixture
def experience(config, run, monkeypatch):
    monkeypatch.setattr(Told, "made", [])
    monkeypatch.setattr(actors, "Remote", Told)
    monkeypatch.setattr(cluster, "check", lambda: None)
    monkeypatch.setattr(actors.ray, "put", lambda vectors: vectors)
    with contextlib.closing(CollectedByActors(config, run)) as made:
        yield made


def numbers(store):
    return [int(episode["number"]) for _, episode in store]


def test_the_replay_is_that_of_one_process(experience):
    assert type(experience.replay) is Replay


def count(agent, episodes):
    agent.clock.advance(episodes, agent_steps=5, environment_steps=5 * episodes)


def test_finished_episodes_are_on_disk_the_lowest_number_first(
    experience, run, make_episode, build_agent
):
    first, second = Told.made
    second.brings(1, make_episode, late=1)
    first.brings(0, make_episode, late=1)
    experience.collect(build_agent())
    assert [each.begun[0][2] for each in Told.made] == [[0], [1]]
    assert [each.last[1] for each in Told.made] == [[2], [3]]  # where these are left out
    assert {each.last[3] for each in Told.made} == {1}  # which are counted as failed
    assert numbers(EpisodeStore(run.episodes)) == [0, 1]


def test_an_actor_goes_on_once_its_last_episode_was_learned_from(
    experience, make_episode, build_agent
):
    agent, (first, second) = build_agent(), Told.made
    first.brings(0, make_episode, late=1)
    second.brings(1, make_episode, late=1)
    experience.collect(agent)
    count(agent, 1)
    experience.learning(agent)
    assert [len(each.begun) for each in Told.made] == [1, 1]
    experience.learned(agent)
    assert [begun[2] for begun in first.begun] == [[0], [2]]
    assert len(second.begun) == 1


def test_the_first_weights_that_have_learned_are_waited_for(
    experience, make_episode, build_agent
):
    """An actor that hurried would act by weights of no gradient step."""
    agent, (first, _) = build_agent(), Told.made
    first.brings(0, make_episode, late=2)
    experience.collect(agent)
    count(agent, 1)
    experience.learning(agent)
    assert len(first.begun) == 1


def test_an_actor_goes_on_at_once_while_the_learner_would_wait(
    experience, make_episode, build_agent
):
    agent, (first, second) = build_agent(), Told.made
    agent.train_step_counter.assign_add(1)
    first.brings(0, make_episode, late=2)
    experience.collect(agent)
    count(agent, 1)
    experience.learning(agent)
    assert first.begun[1][2] == [2]
    second.brings(1, make_episode)  # it is there when the learner asks
    experience.collect(agent)
    count(agent, 2)
    experience.learning(agent)
    assert len(second.begun) == 1


def test_so_does_an_actor_of_several_environments_once_its_last_episode_counts(
    make_config, run, experience, make_episode, build_agent
):
    Told.made.clear()
    config = make_config("actors=2", "environments=2")
    with contextlib.closing(CollectedByActors(config, run)) as several:
        agent, (first, _) = build_agent(), Told.made
        agent.train_step_counter.assign_add(1)
        first.brings(0, make_episode, late=2)
        first.done.append((1, pack(make_episode(1, rows=6))))
        several.collect(agent)
        count(agent, 1)
        several.learning(agent)
        assert len(first.begun) == 1
        count(agent, 2)
        several.learning(agent)
        assert [begun[2] for begun in first.begun] == [[0, 1], [4, 5]]


def test_the_only_actor_collects_while_its_last_episode_is_learned_from(
    make_config, run, experience, make_episode, build_agent
):
    Told.made.clear()
    with contextlib.closing(CollectedByActors(make_config("actors=1"), run)) as alone:
        agent, (only,) = build_agent(), Told.made
        only.brings(0, make_episode, late=1)
        alone.collect(agent)
        count(agent, 1)
        alone.learning(agent)
        assert [begun[2] for begun in only.begun] == [[0], [1]]


def test_weights_are_sent_once_for_all_and_anew_when_they_have_changed(
    experience, make_episode, build_agent
):
    agent, (first, second) = build_agent(), Told.made
    first.brings(0, make_episode, late=1)
    experience.collect(agent)
    assert first.begun[0][1] is second.begun[0][1]
    agent.train_step_counter.assign_add(1)
    count(agent, 1)
    second.brings(1, make_episode)
    experience.collect(agent)
    assert [first.begun[n][1]["int64"][-1] for n in (0, 1)] == [0, 1]  # train steps


def test_after_a_restart_actors_go_on_after_their_last_episode(
    config, run, make_episode, experience, build_agent
):
    EpisodeStore(run.episodes).append(make_episode(3, rows=6))
    Told.made.clear()
    with contextlib.closing(CollectedByActors(config, run)) as again:
        agent = build_agent()
        again.learning(agent)
        assert not any(each.begun for each in Told.made)  # what there is counts first
        count(agent, 1)
        again.learning(agent)
        assert [each.begun[0][2] for each in Told.made] == [[0], [5]]


@pytest.mark.slow
def test_an_actor_of_ray_brings_episodes(here, make_config, run, build_agent):
    words = ["actors=1", "sequence_length=5", "seed_steps=180"]
    config, agent = make_config(*words, f"logdir={run.folder}"), build_agent(*words)
    with contextlib.closing(CollectedByActors(config, run)) as experience:
        for counted in range(4):
            experience.collect(agent)
            agent.clock.advance(counted + 1, agent_steps=20, environment_steps=20)
        found = numbers(experience.store)
    assert len(set(found)) == len(found) >= 4


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_run_goes_on_with_actors_and_without(tmp_path):
    words = ["experiment=debug", "value=none", "sequence_length=5", "seed_steps=40"]
    words += ["evaluation.every_steps=0", "video_every_steps=0", f"logdir={tmp_path}"]
    for steps, count in ((80, 0), (160, 2), (200, 0)):
        more = [f"environment_steps={steps}", f"actors={count}"]
        subprocess.run(command_of("train", *words, *more), check=True)
    rows = read_metrics(tmp_path)
    assert [row["environment_steps"] for row in rows] == [*range(20, 220, 20)]
    found = numbers(EpisodeStore(tmp_path / "episodes"))
    assert len(set(found)) == len(found) >= 10  # one actor may be ahead of the other
    changes = [row.get("changed") for row in read_sessions(tmp_path)]
    assert changes == [None, ["actors: 0 -> 2"], ["actors: 2 -> 0"]]
