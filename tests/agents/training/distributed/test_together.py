"""Tests of agents.training.distributed.together."""

import contextlib
import itertools
import json
import os
import pathlib
import subprocess
import sys
from unittest import mock

import numpy as np
import pytest

from agents.episodes.store import EpisodeStore, pack, unpack
from agents.runs.records import read_metrics
from agents.system.processes import free_addresses
from agents.training.distributed import actors, cluster, together
from agents.training.distributed.together import (
    CollectedForAll,
    GivenEpisodes,
    TakenByAnother,
    newest_in,
    without_reports,
)
from tests.agents.training.distributed.test_chaos import Killed, assert_whole, on_disk

ROOT = pathlib.Path(__file__).parents[4]
STEPS = 40

# One of several learners, or the only one, on batches that are known.
LEARNER = """
import json, sys
import numpy as np, tensorflow as tf
import envs
from agents.training.building import choose_devices, make_agent
from agents.runs.config import overrides
from agents.training.distributed.together import devices_of
from agents.training.gradient_steps import Learning

number, steps, addresses = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
devices = devices_of(addresses, number) if addresses else choose_devices("default")
config = overrides.load(["experiment=debug", "logdir=unused", "optimizer.clip_norm=0.5",
                         "value=td", "compile=false"])
agent = make_agent(config, envs.load_many(1, "fake", processes=False), devices)
agent.clock.advance(episodes=1, agent_steps=50, environment_steps=50)
rng = np.random.default_rng(0)
agent.model.see({"observation": rng.normal(2.0, 3.0, [9, 2]), "reward": np.zeros(9)})
batches = {"observation": rng.normal(size=[steps, 4, 6, 2]).astype(np.float32),
           "action": rng.uniform(-1, 1, [steps, 4, 6, 1]).astype(np.float32),
           "reward": rng.normal(size=[steps, 4, 6]).astype(np.float32),
           "is_first": rng.random([steps, 4, 6]) < 0.2,
           "is_terminal": rng.random([steps, 4, 6]) < 0.2}

class Replay:
    def dataset(self, batch_size, length, **_):
        own = slice(number * batch_size, (number + 1) * batch_size)
        return tf.data.Dataset.from_tensor_slices(
            {name: rows[:, own] for name, rows in batches.items()}).repeat()

learning = Learning(agent, Replay(), devices, 4, 6, seed=0)
losses = [learning.run(1, lambda _: None) for _ in range(steps)]
variables = [v.numpy().tolist() for v in (*agent.model.variables, *agent.value.variables)]
print(json.dumps({"metrics": losses, "variables": variables}))
"""


@pytest.fixture(scope="module")
def learned():
    """What one learner learns, and what each of two does."""

    def start(number, *addresses):
        return subprocess.Popen(
            [sys.executable, "-c", LEARNER, str(number), str(STEPS), *addresses],
            env=os.environ | {"PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "3"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    addresses = free_addresses(2)
    found = []
    for process in (start(0), start(0, *addresses), start(1, *addresses)):
        out, errors = process.communicate(timeout=280)
        assert process.returncode == 0, errors.decode()
        found.append(json.loads(out.splitlines()[-1]))
    return found


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_two_learners_compute_what_one_does_on_the_same_batches(learned):
    one, *two = learned
    losses = [step["loss"] for step in one["metrics"]]
    assert len(losses) == STEPS
    assert min(step["gradient_norm"] for step in one["metrics"]) > 0.5, "nothing clipped"
    for each in two:
        assert [step["loss"] for step in each["metrics"]] == pytest.approx(losses, rel=1e-5)
        for mine, theirs in zip(one["variables"], each["variables"], strict=True):
            np.testing.assert_allclose(theirs, mine, rtol=1e-3, atol=1e-5)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_learners_stay_the_same(learned):
    _, first, second = learned
    assert first == second


def test_the_first_waits_for_devices_of_all_when_all_make_theirs(monkeypatch):
    others = object.__new__(together.Others)
    others._handles, others._addresses = [mock.Mock(), mock.Mock()], ["a:1", "b:2", "c:3"]

    def devices_of(addresses, number):
        assert (addresses, number) == (others._addresses, 0)
        for handle in others._handles:
            handle.learn.remote.assert_called_once_with(addresses)
        return "devices"

    monkeypatch.setattr(together, "devices_of", devices_of)
    assert others.devices() == "devices"


def test_a_learner_learns_from_what_the_first_gives(
    config, run, make_episode, build_agent, monkeypatch
):
    other = together.Learner.__new__(together.Learner)
    other._given = GivenEpisodes()
    experience, agent = TakenByAnother(config, run, other._given), build_agent()
    given = iter(range(2))

    def give(*_):
        number = next(given)
        other.take(number, pack(make_episode(number + 5, rows=6)))

    monkeypatch.setattr(together.interrupts, "pause", give)
    experience.collect(agent)
    assert experience.store.indices == [0]
    assert int(experience.store.read(0)["number"]) == 5
    agent.clock.advance(episodes=1, agent_steps=5, environment_steps=5)
    experience.collect(agent)
    assert int(experience.store.read(1)["number"]) == 6


def test_the_first_hands_on_each_episode_once(
    config, run, make_episode, build_agent, monkeypatch
):
    EpisodeStore(run.episodes).append(make_episode(0, rows=6))
    brought = [(1, pack(make_episode(1, rows=6)))]
    remote = mock.Mock(pending=[], is_idle=False)
    remote.result.side_effect = itertools.chain([brought], itertools.repeat(None))
    monkeypatch.setattr(actors, "Remote", mock.Mock(return_value=remote))
    monkeypatch.setattr(cluster, "check", lambda: None)
    others = mock.Mock()
    agent = build_agent()
    with contextlib.closing(CollectedForAll(config, run, others)) as experience:
        experience.collect(agent)
        experience.learning(agent)
    given = [call.args for call in others.give.call_args_list]
    assert [(index, int(unpack(content)["number"])) for index, content in given] == [
        (0, 0),
        (1, 1),
    ]
    assert others.check.call_count == 2


def test_a_new_learner_gets_what_the_replay_holds(run, make_episode):
    store = EpisodeStore(run.episodes)
    for number in range(4):
        store.append(make_episode(number, rows=6))
    assert newest_in(store, capacity=9) == [2, 3]
    assert newest_in(store, capacity=1000) == [0, 1, 2, 3]
    assert newest_in(store, capacity=9, hold_out_every=2) == [0, 1, 2, 3]  # replays two


def test_only_the_first_learner_reports(config):
    silent = without_reports(config)
    assert (
        silent.evaluation.every_steps,
        silent.video_every_steps,
        silent.probe_every_steps,
    ) == (0, 0, 0)
    assert silent.evaluation.episodes == config.evaluation.episodes


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_when_a_learner_is_killed_the_same_command_goes_on(tmp_path):
    steps = 1_000
    run = Killed(tmp_path, "learners=2", "devices=multi_worker", steps=steps)
    for _ in range(6):
        run.wait_for_a_line()
    kept = on_disk(run)
    assert run.kill("ray::Learner")
    assert run.wait_for_its_end() == 1
    said = run.output.read_text()
    assert "; the same command goes on from the last checkpoint" in said.splitlines()[-1]
    while run.status != 0:
        run.wait_for_a_line()
    rows = assert_whole(run, kept, steps)
    assert len(rows) == len(read_metrics(run.folder))
