"""The role that learns: a run whose episodes others collect."""

import time

import tensorflow as tf

from agents import interrupts
from agents.agent.building import configure_tensorflow
from agents.distributed.handover import Handover
from agents.distributed.sequences import ReplayServer
from agents.distributed.server import greet
from agents.distributed.weights import Weights
from agents.episodes.environments import COLLECTION, load_environments
from agents.training import trainer

_POLL = 0.05
_BETWEEN_PUSHES = 1.0  # seconds


def learn(config, run, address, beat):
    """Trains as `agents.training.trainer.train` does, on what actors collect.

    Args:
        config: `agents.config.schema.Train`.
        run: `agents.runs.folder.Run`, open.
        address: of the replay server.
        beat: `agents.distributed.heartbeat.Heartbeat`.

    Returns:
        Exit status, as of `agents.training.trainer.train`.
    """
    configure_tensorflow(config)
    return trainer.train(
        config,
        run,
        lambda config, store: CollectedByActors(config, store, run, address, beat),
    )


class CollectedByActors:
    """What a run learns from: episodes that actors have finished, sequences of a server.

    In place of `agents.training.experience.CollectedHere`.

    Args:
        config: `agents.config.schema.Train`.
        store: `agents.episodes.store.EpisodeStore` of the run.
        run: `agents.runs.folder.Run`.
        address: of the server.
        beat: `agents.distributed.heartbeat.Heartbeat`.
    """

    def __init__(self, config, store, run, address, beat):
        self._config, self._store, self._beat = config, store, beat
        self._address = address
        self._handover = Handover(run.episodes)
        self.environment = load_environments(config, 1, COLLECTION)
        self.replay = ReplayServer(address, _row_specs(self.environment))
        self._weights = None
        self._pushed = 0.0

    def collect(self, agent):
        """Takes over the episode of the lowest number that is ready; waits for one."""
        while True:
            for file in self._handover.ready():
                if self._store.adopt(file) is not None:
                    self._beat("learning")
                    return
            self._beat("waiting for episodes")
            self._push(agent)
            interrupts.check()
            time.sleep(_POLL)

    def learned(self, agent):
        """Sends the weights, at most once a second."""
        self._beat("learning", train_steps=int(agent.train_step_counter))
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


def _row_specs(environment):
    """Specs of what `agents.episodes.replay.Replay` holds of each row."""
    seen = environment.observation_spec()["observation"]
    action = environment.action_spec()
    return {
        "observation": tf.TensorSpec(seen.shape, seen.dtype),
        "action": tf.TensorSpec(action.shape, tf.float32),
        "reward": tf.TensorSpec([], tf.float32),
        "is_first": tf.TensorSpec([], tf.bool),
        "is_terminal": tf.TensorSpec([], tf.bool),
    }
