"""Several learners that take each gradient step together, each on its part of the batch.

The first does all that a learner alone does. The others learn from the same episodes in the
same order, as they find them on disk, and show nothing. Each writes checkpoints to a folder
of its own, because to save is a step in which all take part; all go on from the first's.
"""

import dataclasses
import pathlib

import tensorflow as tf

from agents.episodes.environments import COLLECTION, load_environments
from agents.episodes.store import numbered_files, read_episode
from agents.runs.folder import learner_name
from agents.system import interrupts
from agents.training.distributed.heartbeat import read_beat
from agents.training.distributed.sequences import ReplayServer, row_specs


@dataclasses.dataclass(frozen=True)
class Workers:
    """The learners of a run, and which of them this process is.

    Args:
        addresses: tuple of `host:port`, at which each of them listens to the others.
        number: of this process, from 0.
    """

    addresses: tuple
    number: int

    def devices(self):
        """Those of all learners; to be made before TensorFlow computes anything."""
        resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(
            tf.train.ClusterSpec({"worker": list(self.addresses)}),
            task_type="worker",
            task_id=self.number,
            rpc_layer="grpc",
        )
        return tf.distribute.MultiWorkerMirroredStrategy(resolver)


def without_reports(config):
    """The config of a learner that is not the first: it neither evaluates nor draws."""
    evaluation = dataclasses.replace(config.evaluation, every_steps=0)
    none = {"video_every_steps": 0, "probe_every_steps": 0}
    return dataclasses.replace(config, evaluation=evaluation, **none)


class TakenByAnother:
    """What a learner that is not the first learns from.

    An `agents.episodes.experience.Experience`.

    Args:
        config: `agents.runs.config.schema.Train`.
        run: `agents.runs.folder.Run`, this learner's part.
        address: of the replay server.
        beat: `agents.training.distributed.heartbeat.Heartbeat`.
    """

    def __init__(self, config, run, address, beat):
        self._beat = beat
        self._roles = run.first.roles
        self._first = self._process_of_first()
        self.store = FoundEpisodes(run.episodes)
        self.environment = load_environments(config, 1, COLLECTION)
        specs = row_specs(self.environment)
        self.replay = ReplayServer(address, specs, config.actors, config.environments)

    def acting(self, agent):
        """Nobody collects in this process: actors do."""
        return []

    def collect(self, agent):
        """Waits until the first learner has taken an episode that `agent` has not counted.

        Raises:
            ConnectionError: it was started again, and waits for all others to be, too.
        """
        counted = agent.counts["episodes"]
        self._beat("waiting for the first learner")
        while max(self.store.indices, default=-1) < counted:
            if self._process_of_first() != self._first:
                raise ConnectionError("the first learner has been started again")
            interrupts.pause()
        self.learned(agent)

    def learned(self, agent):
        """Tells how far it is."""
        self._beat("learning", train_steps=agent.counts["train_steps"])

    def close(self):
        """Frees the environment."""
        self.environment.close()

    def _process_of_first(self):
        beat = read_beat(self._roles, learner_name(0))
        return beat and (beat.host, beat.process)


class FoundEpisodes:
    """Reads what another process keeps by an `agents.episodes.store.EpisodeStore`.

    Args:
        folder: of the run's episodes.
    """

    def __init__(self, folder):
        self._folder = pathlib.Path(folder)

    @property
    def indices(self):
        """Numbers of the episodes that are there now, ascending."""
        return sorted(numbered_files(self._folder))

    def read(self, index):
        """The episode of that number."""
        return read_episode(numbered_files(self._folder)[index])
