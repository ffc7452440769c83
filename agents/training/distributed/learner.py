"""What a run learns from where actors collect: the same replay, filled by them."""

import types

import ray

from agents.episodes.environments import COLLECTION, load_environments
from agents.episodes.experience import Experience
from agents.episodes.store import EpisodeStore
from agents.system import interrupts
from agents.training.distributed import cluster
from agents.training.distributed.actor import Actor
from agents.training.distributed.remote import Remote
from agents.training.distributed.weights import Weights, acting_variables

_POLL = 0.1  # seconds


class CollectedByActors(Experience):
    """Collects episodes by actors of Ray, which is connected.

    An actor begins its next episodes, with the newest weights, once its last one counts. So
    it stays as many episodes ahead as it has environments, and the ratio of updates to
    steps is that of a run that collects alone. What is finished meanwhile is on disk.
    """

    def __init__(self, config, run):
        super().__init__(config, EpisodeStore(run.episodes))
        each = config.environments
        self._stride = config.actors * each
        cores = max(config.threads, 1)
        self._slots = [  # rows among all environments, the episode that is to count first
            types.SimpleNamespace(
                remote=Remote(f"actor_{number}", Actor, config, number, cores=cores),
                rows=slice(number * each, (number + 1) * each),
                last=max(self.store.indices, default=-1),
            )
            for number in range(config.actors)
        ]
        self.environment = load_environments(config, 1, COLLECTION)
        self._weights = self._sent = self._counts = None

    def collect(self, agent):
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

    def _look(self, agent):
        cluster.check()
        self._take()
        counted = int(agent.clock.episodes.numpy())
        nexts = None
        for slot in self._slots:
            if slot.remote.is_idle and slot.last < counted:
                nexts = nexts or self.store.next_numbers(self._stride)
                given = self._newest(agent), nexts[slot.rows], max(1, self._steps_left)
                slot.remote.begin("collect", *given)
            slot.remote.watch()

    def _newest(self, agent):
        """A reference of the newest weights in Ray's store, sent once for all who ask."""
        if self._weights is None:
            self._weights = Weights(acting_variables(agent))
        if (counts := agent.counts) != self._counts:
            self._counts = counts
            self._sent = ray.put(self._weights.read())
        return self._sent

    def _take(self):
        """Writes finished episodes, the lowest number first."""
        found = [
            (number, content, slot)
            for slot in self._slots
            for number, content in slot.remote.result() or ()
        ]
        for _, content, slot in sorted(found, key=lambda each: each[0]):
            slot.last = self.store.append_packed(content)
