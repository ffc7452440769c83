"""What a run learns from where actors collect: the same replay, filled by them."""

import os

import ray

from agents.episodes.environments import COLLECTION, load_environments
from agents.episodes.replay import Replay
from agents.episodes.store import EpisodeStore, numbered_files
from agents.system import interrupts
from agents.training.distributed import cluster
from agents.training.distributed.actor import Actor
from agents.training.distributed.remote import Remote
from agents.training.distributed.weights import Version, Weights, acting_variables

_POLL = 0.1  # seconds


class CollectedByActors:
    """Collects episodes by actors of Ray; an `agents.episodes.experience.Experience`.

    An actor begins its next episodes, with the newest weights, once its last one counts. So
    it stays as many episodes ahead as it has environments, and the ratio of updates to
    steps is that of a run that collects alone. What is finished meanwhile is on disk.

    Args:
        config: `agents.runs.config.schema.Train`.
        run: `agents.runs.folder.Run`, open; Ray is connected.
    """

    def __init__(self, config, run):
        self._config = config
        self.store = EpisodeStore(run.episodes)
        _take_left(self.store, run.episodes)
        each = config.environments
        self._stride = config.actors * each
        cores = max(config.threads, 1)
        self._slots = [
            _Slot(
                Remote(f"actor_{number}", Actor, config, number, cores=cores),
                slice(number * each, (number + 1) * each),
                last=max(self.store.indices, default=-1),
            )
            for number in range(config.actors)
        ]
        self.environment = load_environments(config, 1, COLLECTION)
        self.replay = Replay(config.replay_capacity)
        self._sent = _Sent()

    def acting(self, agent):
        """Nobody collects in this process: actors do."""
        return []

    def collect(self, agent):
        """Waits until the store has an episode that `agent` has not counted."""
        counted = agent.counts["episodes"]
        while True:
            self._look(agent)
            if self.store.indices and self.store.indices[-1] >= counted:
                return
            pending = [each for slot in self._slots for each in slot.remote.pending]
            interrupts.pause(0.0 if pending else _POLL)
            if pending:
                ray.wait(pending, timeout=_POLL)

    def learned(self, agent):
        """Writes what is finished; lets actors begin whose last episode counts."""
        self._look(agent)

    def close(self):
        """Frees the environment; actors end with Ray."""
        self.environment.close()

    def _look(self, agent):
        cluster.check()
        self._take()
        counted = int(agent.clock.episodes.numpy())
        nexts = None
        for slot in self._slots:
            if slot.remote.is_idle and slot.last < counted:
                nexts = nexts or self.store.next_numbers(self._stride)
                given = self._sent.newest(agent), nexts[slot.rows], self._steps_left()
                slot.remote.begin("collect", *given)
            slot.remote.watch()

    def _steps_left(self):
        """Environment steps that the run still needs, at least 1."""
        repeat = self._config.action_repeat
        steps = self._config.environment_steps - self.store.environment_steps(repeat)
        return max(1, steps)

    def _take(self):
        """Writes finished episodes, the lowest number first."""
        found = [
            (number, content, slot)
            for slot in self._slots
            for number, content in slot.remote.result() or ()
        ]
        for _, content, slot in sorted(found, key=lambda each: each[0]):
            slot.last = self.store.append_packed(content)


class _Slot:
    """An actor: its environments among all, and the episode that it waits for to count."""

    def __init__(self, remote, rows, last):
        self.remote, self.rows, self.last = remote, rows, last


class _Sent:
    """The newest weights in Ray's store, sent once however many ask for them."""

    def __init__(self):
        self._weights = self._reference = self._of = None
        self._number = 0

    def newest(self, agent):
        """A reference of the `Version` of the agent's weights."""
        if self._weights is None:
            self._weights = Weights(acting_variables(agent))
        counts = agent.counts
        if counts != self._of:
            self._of, self._number = counts, self._number + 1
            self._reference = ray.put(Version(self._number, self._weights.read()))
        return self._reference


def _take_left(store, folder):
    """Takes over what actors of earlier versions left: files that no learner has taken."""
    folders = [*folder.glob("actor_*"), folder / "ready"]
    left = [pair for place in folders for pair in numbered_files(place).items()]
    for _, file in sorted(left):
        store.adopt(file)
    for place in folders:
        if place.is_dir() and not any(place.glob("*.npz")):
            for file in place.iterdir():
                os.unlink(file)
            place.rmdir()
