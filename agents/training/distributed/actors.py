"""Actors of Ray, which collect; and what a run learns from where they do."""

import contextlib
import dataclasses
import math
import types

import numpy as np
import ray
import tensorflow as tf

from agents.episodes.environments import COLLECTION, load_environments
from agents.episodes.experience import Experience, make_collector
from agents.episodes.store import EpisodeStore, pack
from agents.system import interrupts
from agents.training.building import configure_tensorflow, make_agent
from agents.training.compiling import CompilingAhead
from agents.training.distributed import cluster
from agents.training.distributed.remote import Living, Remote
from agents.training.distributed.weights import Weights, acting_variables
from envs.quiet import import_gym

_POLL = 0.1  # seconds


class Actor(Living):
    """Collects episodes, with environments of its own.

    Environment e of actor k runs every n-th episode of the run's sequence, n = actors *
    environments, from number k * environments + e on. So episodes have the starts and the
    weight draws of a run that collects alone, whoever runs them.

    Everything is made in `collect`, because what draws pictures works in one thread alone
    and Ray calls constructors in another one.
    """

    def __init__(self, config, number):
        self._config, self._number = config, number
        self._stride = config.actors * config.environments
        self._agent = self._environment = None
        self._nexts, self._finished, self._failed = None, [], []

    def collect(self, vectors, nexts, left=None, failed=0):
        """At least one more episode, by these weights: pairs of its number and its bytes.

        The next episodes of the environments have the numbers `nexts`. Those that are in
        the midst of them go on; a process that is new, or whose last episodes were lost on
        their way, begins there. After so many environment steps that are `left` of the run
        an episode that does not end is cut. So many episodes of each environment right
        before the next ones have `failed`.
        """
        try:
            if nexts != self._nexts:
                self._begin(nexts, left or self._config.environment_steps)
                self._failed = [failed] * len(nexts)
            self._weights.write(vectors)
            self._collector.collect()
        except BaseException:
            self._nexts = None  # environments may stand anywhere: the next call begins
            raise
        finished, self._finished = self._finished, []
        return finished

    def _begin(self, nexts, left):
        self.close()
        config = self._config
        if self._agent is None:
            import_gym()  # TF-Agents would import it with a notice
            configure_tensorflow(config)
        self._environment = load_environments(
            config,
            config.environments,
            COLLECTION,
            processes=config.environments > 1,
            first_episodes=nexts,
            stride=self._stride,
            cut_after=math.ceil(left / self._stride),
        )
        if self._agent is None:
            own = with_own_noise(config, self._number)
            self._agent = make_agent(own, self._environment, tf.distribute.get_strategy())
            self._weights = Weights(acting_variables(self._agent))
            CompilingAhead([(self._agent.collect_policy, config.environments)])
        given = config, self._agent, self._environment, nexts
        self._collector = make_collector(*given, self._finish, self._stride)
        self._nexts, self._finished = list(nexts), []

    def close(self):
        """Frees the environments."""
        if self._environment is not None:
            with contextlib.suppress(Exception):  # it may be what has failed
                self._environment.close()
        self._environment = None

    def _finish(self, episode, row):
        steps = np.int64(self._agent.train_step_counter.numpy())
        number = int(episode["number"])
        failed, self._failed[row] = episode["failed_episodes"] + self._failed[row], 0
        own = {"train_steps": steps, "failed_episodes": failed}
        self._finished.append((number, pack(episode | own)))
        self._nexts[row] = number + self._stride


def with_own_noise(config, number):
    """The config of an actor, whose noise stands on its rung of the ladder."""
    if config.noise_ladder == 1:
        return config
    noise = config.action_noise.on_ladder(config.noise_ladder, number, config.actors)
    return dataclasses.replace(config, action_noise=noise)


class CollectedByActors(Experience):
    """Collects episodes by actors of Ray, which is connected.

    An actor begins its next episodes, with the newest weights, once its last one was
    learned from. So with n actors of one environment each, weights are n - 1 episodes old,
    and the ratio of updates to steps is that of a run that collects alone. Where that would
    keep the learner waiting, an actor begins as soon as its last episode counts: the only
    one always; others after episodes that the learner had to wait for, or found on disk
    when it started. What is finished meanwhile is on disk.
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
        self._waited_until = max(self.store.indices, default=-1)

    def collect(self, agent):
        counted, waited = agent.counts["episodes"], False
        while True:
            self._look(agent, counted)
            if self.store.indices and self.store.indices[-1] >= counted:
                break
            waited = agent.counts["train_steps"] > 0  # the first weights are worth a wait
            pending = [each for slot in self._slots for each in slot.remote.pending]
            interrupts.pause(0.0 if pending else _POLL)
            if pending:
                ray.wait(pending, timeout=_POLL)
        if waited:
            self._waited_until = self.store.indices[-1]

    def learning(self, agent):
        """Writes what is finished; lets actors begin, as the class says when."""
        newest = agent.counts["episodes"] - 1
        hurries = len(self._slots) == 1 or newest <= self._waited_until
        self._look(agent, newest + hurries)

    def learned(self, agent):
        self._look(agent, agent.counts["episodes"])

    def _look(self, agent, episodes):
        """Lets actors begin whose last episode is among so many first ones."""
        cluster.check()
        self._take()
        nexts = None
        for slot in self._slots:
            if slot.remote.is_idle and slot.last < episodes:
                nexts = nexts or self.store.next_numbers(self._stride)
                own, left = nexts[slot.rows], max(1, self._steps_left)
                later = [number + self._stride for number in own]
                weights = self._newest(agent)
                last = weights, later, left, 1  # it may die in each of `own`
                slot.remote.begin("collect", weights, own, left, last=last)
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
