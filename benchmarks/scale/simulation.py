"""A run of many processes as a simulation of discrete events (SimPy).

Actors, learners, a server and, where they share one machine, its cores take the times that
were measured of each; waits follow from the rules of a run: an actor goes on once its last
episodes are taken, the first learner takes an episode and all take its gradient steps, each
on its share of the batch, and weights are sent at most once a second.
"""

import collections
import dataclasses

import simpy

_CHUNK = 20  # gradient steps between two looks at the clock, as in training.gradient_steps
_BETWEEN_PUSHES = 1.0  # seconds, as in agents.training.distributed.learner
_PREFETCHED = 2  # batches


@dataclasses.dataclass(frozen=True)
class Layout:
    """How many of everything.

    Args:
        actors: processes that collect.
        environments: of each actor.
        learners: processes that learn as one.
        updates: gradient steps after each episode.
        cores: that all processes share; None: each process has one of its own.
        bandwidth: bytes a second between learners that sum gradients.
        latency: seconds of a sum beside that.
    """

    actors: int
    environments: int = 1
    learners: int = 1
    updates: int = 300
    cores: int | None = None
    bandwidth: float = 1.25e9
    latency: float = 1e-4


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What a layout does.

    Args:
        steps_per_second: environment steps learned from.
        staleness: mean gradient steps by which the weights of an episode were old.
        busy: dict of actors, learners, server -> share of the time that they work.
    """

    steps_per_second: float
    staleness: float
    busy: dict

    @property
    def bottleneck(self):
        """What works most of the time: more of it would help first."""
        return max(self.busy, key=self.busy.get)


def simulate(costs, layout, episodes=None):
    """Runs a layout until so many episodes were learned from, the first third unmeasured.

    Args:
        costs: `benchmarks.scale.costs.Costs`.
        layout: `Layout`.
        episodes: None: three of each environment, at least 30.

    Returns:
        `Outcome`.
    """
    episodes = episodes or max(30, 3 * layout.actors * layout.environments)
    run = _Run(costs, layout)
    run.until(episodes // 3)
    run.begin()
    done = run.until(episodes)
    seconds = run.clock.now - run.begun
    steps = (done - episodes // 3) * costs.episode_steps * costs.action_repeat
    workers = {"actors": layout.actors, "learners": layout.learners, "server": 1}
    busy = {name: run.worked[name] / (n * seconds) for name, n in workers.items()}
    stalenesses = run.stalenesses
    return Outcome(steps / seconds, sum(stalenesses) / len(stalenesses), busy)


class _Run:
    def __init__(self, costs, layout):
        self._costs, self._layout = costs, layout
        self.clock = simpy.Environment()
        self._server = simpy.Resource(self.clock)
        self._cores = simpy.Resource(self.clock, layout.cores) if layout.cores else None
        self._ready = simpy.Store(self.clock)  # actor and train steps of its weights
        self._batches = simpy.Store(self.clock, _PREFETCHED)
        self._untaken = [0] * layout.actors  # episodes of each that wait
        self._taken = [simpy.Store(self.clock) for _ in range(layout.actors)]
        self._train_steps = self._sent = 0
        self._pushed = 0.0
        self.begin()
        self._learned = 0
        for actor in range(layout.actors):
            self.clock.process(self._collect(actor))
        self.clock.process(self._sample())
        self.clock.process(self._learn())

    def begin(self):
        """Measures from now on."""
        self.begun = self.clock.now
        self.worked = collections.Counter()  # seconds of each kind of process
        self.stalenesses = []

    def until(self, episodes):
        while self._learned < episodes:
            self.clock.step()
        return self._learned

    def _collect(self, actor):
        costs, count = self._costs, self._layout.environments
        decision = costs.decision[count] + costs.step[count]
        while True:
            yield from self._ask("actors", costs.pull)
            steps = self._sent
            yield from self._work("actors", decision, costs.episode_steps)
            for _ in range(count):
                yield from self._work("actors", costs.write)
                yield from self._ask("actors", costs.insert)
                self._untaken[actor] += 1
                yield self._ready.put((actor, steps))
            while self._untaken[actor] >= count:
                yield self._taken[actor].get()

    def _sample(self):
        while True:
            yield from self._ask(None, self._costs.sample)
            yield self._batches.put(None)

    def _learn(self):
        costs, layout = self._costs, self._layout
        step = costs.train[layout.learners] + _sum_seconds(costs, layout)
        while True:
            actor, steps = yield self._ready.get()
            self._untaken[actor] -= 1
            yield self._taken[actor].put(None)
            self.stalenesses.append(self._train_steps - steps)
            for update in range(layout.updates):
                yield self._batches.get()
                yield from self._work("learners", step, processes=layout.learners)
                self._train_steps += 1
                if update % _CHUNK == 0:
                    yield from self._push()
            yield from self._work("learners", costs.save, processes=layout.learners)
            self._learned += 1

    def _push(self):
        if self.clock.now - self._pushed >= _BETWEEN_PUSHES:
            yield from self._ask("learners", self._costs.push)
            self._pushed, self._sent = self.clock.now, self._train_steps

    def _ask(self, who, seconds):
        """Waits for the server, which serves one after another."""
        with self._server.request() as turn:
            yield turn
            yield from self._work("server", seconds)
        if who is not None:
            self._book(who, seconds)

    def _work(self, who, seconds, times=1, processes=1):
        """Works on a core: one for each process, or one of those that all share."""
        if self._cores is None:
            yield self.clock.timeout(seconds * times)
            self._book(who, seconds * times, processes)
            return
        for _ in range(times):
            with self._cores.request() as core:
                yield core
                yield self.clock.timeout(seconds)
            self._book(who, seconds, processes)

    def _book(self, who, seconds, processes=1):
        """Counts the last seconds as work, those since the measurement began."""
        self.worked[who] += processes * min(seconds, self.clock.now - self.begun)


def _sum_seconds(costs, layout):
    """Of the sum of gradients over learners, each of which sends 2 (n - 1) / n of them."""
    n = layout.learners
    if n == 1:
        return 0.0
    return 2 * (n - 1) / n * costs.gradients / layout.bandwidth + layout.latency
