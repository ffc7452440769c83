"""Tests of agents.training.distributed.learner."""

import contextlib
import types

import numpy as np
import pytest
import tensorflow as tf

from agents.episodes.replay import Replay
from agents.training import trainer
from agents.training.building import choose_devices
from agents.training.distributed import learner as role
from agents.training.distributed.learner import CollectedByActors
from agents.training.distributed.variables import Weights


@pytest.fixture
def experience(config, run, serve, beat):
    made = CollectedByActors(config, run, serve(), beat)
    with contextlib.closing(made):
        yield made


def test_it_takes_the_episode_of_the_lowest_number(
    experience, handover, make_episode, build_agent, beat
):
    handover.open(0)
    for number in (6, 2):
        handover.release(handover.finish(0, make_episode(number, rows=6)))
    experience.collect(build_agent())
    assert [int(episode["number"]) for _, episode in experience.store] == [2]
    assert [file.stem for file in handover.ready()] == ["000006"]
    assert beat.states == ["learning"]


def test_while_it_waits_actors_get_weights(
    experience, config, handover, make_episode, build_agent, beat, monkeypatch
):
    agent, other = build_agent("actors=2"), build_agent("actors=2", "seed=5")
    handover.open(0)

    def deliver():
        handover.release(handover.finish(0, make_episode(0, rows=6)))

    monkeypatch.setattr(role.interrupts, "pause", deliver)
    experience.collect(agent)
    assert beat.states == ["waiting for episodes", "learning"]
    Weights(other, experience._address).pull()
    for mine, theirs in zip(agent.model.variables, other.model.variables, strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_batches_are_like_those_of_a_run_that_collects_alone(experience, config, serve):
    """Of the same keys, shapes and types."""
    environment = experience.environment
    rows = np.arange(7)
    seen = environment.observation_spec()["observation"]
    episode = {
        "observation": np.zeros([7, *seen.shape], np.float32),
        "action": np.zeros([7, 1], np.float32),
        "reward": np.zeros(7, np.float32),
        "is_first": rows == 0,
        "is_terminal": rows < 0,
        "position": np.zeros([7, 1], np.float32),
        "velocity": np.zeros([7, 1], np.float32),
    }
    import reverb

    from agents.training.distributed.sequences import SequenceWriter

    replay = Replay(100)
    replay.add(episode)
    client = reverb.Client(experience._address)
    SequenceWriter(client, config.sequence_length).insert(episode, timeout=10)
    specs = [
        each.dataset(4, config.sequence_length, seed=0).element_spec
        for each in (replay, experience.replay)
    ]
    assert tf.nest.map_structure(lambda a, b: a == b, *specs) == dict.fromkeys(
        specs[0], True
    )
    (batch,) = experience.replay.dataset(4, config.sequence_length).take(1)
    assert batch["observation"].shape[:2] == (4, config.sequence_length)


def test_learners_that_found_different_checkpoints_do_not_go_on(
    make_config, run, experience, monkeypatch
):
    words = ["actors=1", "learners=2", "devices=multi_worker", f"logdir={run.folder}"]
    told = []

    def of_another(devices, counts):
        told.append(counts)
        return np.array([counts, [count + 1 for count in counts]])

    monkeypatch.setattr(trainer, "told_by_all", of_another)
    with pytest.raises(ConnectionError, match="different checkpoints"):
        trainer.Trainer(
            make_config(*words),
            run,
            types.SimpleNamespace(note=print),
            lambda config, run: experience,
            choose_devices("default"),
        )
    assert told == [[0, 0, 0, 0]]
