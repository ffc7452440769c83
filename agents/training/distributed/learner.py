"""The role that learns: a run whose episodes others collect."""

import sys
import time

import tensorflow as tf

from agents.episodes.environments import COLLECTION, load_environments
from agents.episodes.store import EpisodeStore
from agents.system import interrupts
from agents.training import trainer
from agents.training.building import configure_tensorflow
from agents.training.checking import check_devices
from agents.training.distributed.handover import Handover
from agents.training.distributed.sequences import ReplayServer, row_specs
from agents.training.distributed.server import greet
from agents.training.distributed.variables import Weights
from agents.training.distributed.workers import TakenByAnother, without_reports

_BETWEEN_PUSHES = 1.0  # seconds


def learn(config, run, address, beat):
    """Trains as `agents.training.trainer.train` does, on what actors collect.

    Args:
        config: `agents.runs.config.schema.Train`.
        run: `agents.runs.folder.Run`, open.
        address: of the replay server.
        beat: `agents.training.distributed.heartbeat.Heartbeat`.

    Returns:
        Exit status, as of `agents.training.trainer.train`.
    """

    def experience(config, run):
        return CollectedByActors(config, run, address, beat)

    return trainer.train(config, run, experience)


def learn_together(config, run, address, beat, workers):
    """Trains as one of several learners.

    Args:
        config: `agents.runs.config.schema.Train`.
        run: `agents.runs.folder.Run`, open; its part of the run, where it is not the first.
        address: of the replay server.
        beat: `agents.training.distributed.heartbeat.Heartbeat`.
        workers: `agents.training.distributed.workers.Workers`.

    Returns:
        As `learn`; 1 with one line where another learner has gone, or has found another
        checkpoint: all must start again.
    """
    configure_tensorflow(config)
    devices = workers.devices()
    check_devices(config, devices)
    make = TakenByAnother if workers.number else CollectedByActors

    def experience(_, run):
        return make(config, run, address, beat)

    own = without_reports(config) if workers.number else config
    try:
        return trainer.train(own, run, experience, devices)
    except ConnectionError as error:
        reason = str(error)
    except tf.errors.OpError as error:
        first_line = error.message.partition("\n")[0]
        reason = f"another learner has gone ({first_line})"
    print(f"bayes-rl: {reason}; all start again from the last checkpoint", file=sys.stderr)
    return 1


class CollectedByActors:
    """What a run learns from: episodes that actors have finished, sequences of a server.

    An `agents.episodes.experience.Experience`.

    Args:
        config: `agents.runs.config.schema.Train`.
        run: `agents.runs.folder.Run`, open.
        address: of the server.
        beat: `agents.training.distributed.heartbeat.Heartbeat`.
    """

    def __init__(self, config, run, address, beat):
        self._config, self._beat = config, beat
        self._address = address
        self.store = EpisodeStore(run.episodes)
        self._handover = Handover(run.episodes)
        self.environment = load_environments(config, 1, COLLECTION)
        specs = row_specs(self.environment)
        self.replay = ReplayServer(address, specs, config.actors, config.environments)
        self._weights = None
        self._pushed = 0.0

    def acting(self, agent):
        """Nobody collects in this process: actors do."""
        return []

    def collect(self, agent):
        """Takes over the episode of the lowest number that is ready; waits for one."""
        while True:
            for file in self._handover.ready():
                if self.store.adopt(file) is not None:
                    self._beat("learning")
                    return
            self._beat("waiting for episodes")
            self._push(agent)
            interrupts.pause()

    def learned(self, agent):
        """Sends the weights, at most once a second."""
        self._beat("learning", train_steps=agent.counts["train_steps"])
        self._push(agent)

    def close(self):
        """Frees the environment."""
        self.environment.close()

    def _push(self, agent):
        if time.monotonic() - self._pushed < _BETWEEN_PUSHES:
            return
        try:
            greet(self._config, self._address)
        except TimeoutError:  # to push would wait for ever
            return
        if self._weights is None:
            self._weights = Weights(agent, self._address)
        self._weights.push()
        self._pushed = time.monotonic()
