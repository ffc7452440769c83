"""The role that collects: episodes to disk first, then to the replay server."""

import dataclasses
import math

import numpy as np
import reverb
import tensorflow as tf

from agents.episodes.collecting import Collector, RandomAtFirst, as_py_policy
from agents.episodes.environments import COLLECTION, load_environments
from agents.episodes.replay import is_held_out
from agents.episodes.store import DamagedEpisodeError, read_episode
from agents.system import interrupts
from agents.training.building import configure_tensorflow, make_agent
from agents.training.compiling import CompilingAhead
from agents.training.distributed.handover import Handover
from agents.training.distributed.sequences import SequenceWriter
from agents.training.distributed.server import greet
from agents.training.distributed.variables import Weights

_PATIENCE = 5.0  # seconds for the server to confirm an episode


def act(config, run, number, address, beat):
    """Collects until it is interrupted.

    Args:
        config: `agents.runs.config.schema.Train`.
        run: `agents.runs.folder.Run`, of which it writes its own episodes alone.
        number: of the actor, from 0.
        address: of the replay server.
        beat: `agents.training.distributed.heartbeat.Heartbeat`.

    Raises:
        UserError: the server serves another config or version.
    """
    configure_tensorflow(config)
    actor = Actor(config, run, number, address, beat)
    try:
        while True:
            actor.collect()
            interrupts.check()
    finally:
        actor.close()


class Actor:
    """One of the processes that collect, with environments of its own.

    Environment e of actor k runs every n-th episode of the run's sequence, n = actors *
    environments, from number k * environments + e on. So episodes have the starts and the
    weight draws of a run that collects alone, whoever runs them.

    Args: as of `act`.
    """

    def __init__(self, config, run, number, address, beat):
        self._config, self._number, self._beat = config, number, beat
        self._address = address
        self._rows = range(number * config.environments, (number + 1) * config.environments)
        self._stride = config.actors * config.environments
        self._handover = Handover(run.episodes)
        self._handover.open(number)
        self._serving = self._greet()["serving"]
        self._client = reverb.Client(address)
        self._writer = None
        self._deliver_unconfirmed()
        firsts = self._handover.next_numbers(self._rows, self._stride)
        self._environment = load_environments(
            config,
            config.environments,
            COLLECTION,
            processes=config.environments > 1,
            first_episodes=firsts,
            stride=self._stride,
            cut_after=math.ceil(config.environment_steps / self._stride),
        )
        own = _with_own_noise(config, number)
        self._agent = make_agent(own, self._environment, tf.distribute.get_strategy())
        self._weights = Weights(self._agent, address)
        self._policy = policy = RandomAtFirst(
            as_py_policy(self._agent.collect_policy),
            self._environment,
            lambda: self._agent.clock.environment_steps < config.seed_steps,
            config.seed,
            firsts,
            self._stride,
        )
        self._collector = Collector(
            self._environment, policy, self._agent.train_step_counter, self._finished
        )
        self._ahead = CompilingAhead([(self._agent.collect_policy, config.environments)])

    def collect(self):
        """At least one more episode, with the newest weights.

        Waits until the learner has taken the last one of each environment: so it stays a
        bounded number of updates ahead of its weights, and the ratio of updates to steps
        is that of a run that collects alone.
        """
        while self._handover.untaken(self._rows, self._stride) >= len(self._rows):
            self._beat("waiting for the learner")
            interrupts.pause()
        self._beat("waiting for weights")
        self._greet()
        self._weights.pull()
        self._beat("collecting", train_steps=self._agent.counts["train_steps"])
        self._collector.collect()

    def close(self):
        """Frees the environments."""
        self._ahead.stop()
        self._environment.close()
        self._ahead.wait()

    def _finished(self, episode, row):
        self._beat("writing")
        episode = episode | {"is_random": self._policy.is_random[row]}
        steps = np.int64(self._agent.train_step_counter.numpy())
        file = self._handover.finish(self._number, episode | {"train_steps": steps})
        self._deliver(file, episode)

    def _deliver_unconfirmed(self):
        """Delivers what an earlier process of this actor wrote and could not insert."""
        for file in self._handover.finished(self._number):
            try:
                episode = read_episode(file)
            except DamagedEpisodeError:  # the learner names it and puts it aside
                self._handover.release(file)
                continue
            self._deliver(file, episode)

    def _deliver(self, file, episode):
        """Sees to it that the server which serves now has an episode; releases its file."""
        while True:
            hello = self._greet()
            if int(episode["number"]) in hello["numbers"]:  # it has read the file
                break
            if is_held_out(episode, self._config.hold_out_every):
                break
            if hello["serving"] != self._serving:
                self._serving, self._writer = hello["serving"], None
            if self._writer is None:
                self._writer = SequenceWriter(self._client, self._config.sequence_length)
            try:
                self._writer.insert(episode, timeout=_PATIENCE)
                break
            except TimeoutError:
                self._writer = None
        self._handover.release(file)

    def _greet(self):
        """Waits for a server that serves; what it says."""
        while True:
            try:
                return greet(self._config, self._address)
            except TimeoutError as error:
                self._beat("waiting for the server", reason=str(error))
                interrupts.pause()


def _with_own_noise(config, number):
    """The config of an actor, whose noise stands on its rung of the ladder."""
    if config.noise_ladder == 1:
        return config
    noise = config.action_noise.on_ladder(config.noise_ladder, number, config.actors)
    return dataclasses.replace(config, action_noise=noise)
