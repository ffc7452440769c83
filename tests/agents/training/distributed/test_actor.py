"""Tests of agents.training.distributed.actor."""

import contextlib

import numpy as np
import pytest

from agents.episodes.store import EpisodeStore, read_episode
from agents.runs.folder import Run
from agents.system import interrupts
from agents.training.distributed import actor as role
from agents.training.distributed.actor import Actor
from agents.training.distributed.variables import Weights
from tests.agents.training.distributed.test_server import size


@pytest.fixture
def address(serve, config, build_agent):
    """Of a server that has the weights of a learner."""
    address = serve()
    agent = build_agent("actors=2", "sequence_length=5", "seed_steps=180")
    agent.train_step_counter.assign(40)
    Weights(agent, address).push()
    return address


@pytest.fixture
def make_actor(config, run, address, beat):
    with contextlib.ExitStack() as actors:

        def make(number, address=address):
            return actors.enter_context(
                contextlib.closing(Actor(config, run, number, address, beat))
            )

        yield make


def test_an_episode_is_on_disk_and_in_the_replay_before_the_learner_may_take_it(
    make_actor, address, handover, beat
):
    make_actor(1).collect()
    (file,) = handover.ready()
    episode = read_episode(file)
    assert (int(episode["number"]), int(episode["train_steps"])) == (1, 40)
    rows = len(episode["reward"])
    assert size(address) == rows - 5 + 1
    assert beat.states == ["waiting for weights", "collecting", "writing"]


def test_an_actor_waits_until_the_learner_has_taken_its_last_episode(
    make_actor, handover, run, beat, monkeypatch
):
    actor, store = make_actor(1), EpisodeStore(run.episodes)
    actor.collect()

    def take():
        store.adopt(handover.ready()[0])

    monkeypatch.setattr(role.interrupts, "pause", take)
    actor.collect()
    assert "waiting for the learner" in beat.states
    assert [int(store.read(0)["number"])] == [1]
    assert [file.stem for file in handover.ready()] == ["000003"]


def test_actors_run_the_episodes_of_a_run_that_collects_alone(
    make_actor, handover, run, make_config, build_agent
):
    """Random ones: those of an agent depend on what it has learned."""
    from agents.episodes.experience import CollectedHere

    for number in (0, 1):
        make_actor(number).collect()
    words = ["seed_steps=180", f"logdir={run.folder}"]
    other = Run(run.folder / "alone")
    with contextlib.closing(CollectedHere(make_config(*words), other)) as experience:
        experience.collect(build_agent(*words))
        experience.collect(build_agent(*words))
    alone = experience.store
    files = handover.ready()
    for key in ("observation", "action", "reward"):
        np.testing.assert_array_equal(read_episode(files[0])[key], alone.read(0)[key])
    first = [read_episode(files[1])["observation"][0], alone.read(1)["observation"][0]]
    np.testing.assert_array_equal(*first)


def test_what_a_killed_actor_could_not_deliver_the_next_one_delivers_once(
    make_actor, address, serve, handover, make_episode
):
    handover.open(0)
    handover.finish(0, make_episode(2, rows=10))
    make_actor(0)
    assert [file.stem for file in handover.ready()] == ["000002"]
    assert size(address) == 10 - 5 + 1
    handover.finish(0, make_episode(4, rows=10))
    later = serve()  # has read the file
    before = size(later)
    make_actor(0, later)
    assert size(later) == before == 2 * (10 - 5 + 1)
    assert len(handover.ready()) == 2


def test_actors_stand_on_rungs_of_a_ladder_of_noise(config, make_config):
    assert role._with_own_noise(config, 1) == config
    words = ["actors=3", "noise_ladder=9", "action_noise.stddev=0.3"]
    laddered = make_config(*words, "action_noise.final_stddev=null", "action_noise.steps=0")
    noises = [role._with_own_noise(laddered, n).action_noise for n in range(3)]
    np.testing.assert_allclose([noise.stddev for noise in noises], [0.1, 0.3, 0.9])
    assert {noise.final_stddev for noise in noises} == {None}


def test_ctrl_c_ends_a_wait(make_actor, monkeypatch):
    actor = make_actor(0)
    actor.collect()
    interrupts._wish.set()
    try:
        with pytest.raises(KeyboardInterrupt):
            actor.collect()
    finally:
        interrupts._wish.clear()


def test_a_held_out_episode_is_on_disk_and_not_in_the_replay(
    make_config, build_agent, serve, run, handover, beat
):
    words = ["actors=3", "sequence_length=5", "seed_steps=20", "hold_out_every=2"]
    config = make_config(*words, f"logdir={run.folder}")
    address = serve(config)
    Weights(build_agent(*words), address).push()
    with contextlib.closing(Actor(config, run, 1, address, beat)) as actor:
        actor.collect()
    assert [file.stem for file in handover.ready()] == ["000001"]
    assert size(address) == 0
