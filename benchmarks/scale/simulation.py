"""A run of many processes as a simulation of discrete events (SimPy).

Actors, learners and, where they share one machine, its cores take the times that were
measured of each; waits follow from the rules of a run: the first learner takes an episode
and all take its gradient steps, each on its share of the batch; then the actor of that
episode goes on, with the weights of then. It goes on as soon as its episode is taken if it
is the only one, or if the learner had to wait for the episode.
"""

import collections
import dataclasses
import math

import simpy


@dataclasses.dataclass(frozen=True)
class Layout:
    """How many of everything."""

    actors: int  # processes that collect
    learners: int = 1  # processes that learn as one
    updates: int = 300  # gradient steps after each episode
    cores: int | None = None  # that all processes share; None: each has one of its own
    bandwidth: float = 1.25e9  # bytes a second between learners that sum gradients
    latency: float = 1e-4  # seconds of a sum beside that


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What a layout does."""

    steps_per_second: float  # environment steps learned from
    staleness: float  # mean gradient steps by which the weights of an episode were old
    busy: dict  # actors, learners -> share of the time that they work

    @property
    def bottleneck(self):
        """What works most of the time: more of it would help first."""
        return max(self.busy, key=self.busy.get)


def simulate(costs, layout, episodes=None):
    """Runs a layout until so many episodes were learned from.

    A third of them at first is not measured, in whole waves: actors that start together go
    on in waves, of an episode of each actor, and a part of one would count the time of some
    actors and not of others. Without `episodes` each actor has three, all at least 30.
    """
    wave = layout.actors
    waves = math.ceil((episodes or max(30, 3 * wave)) / wave)
    skipped = math.ceil(waves / 3)
    run = _Run(costs, layout)
    run.until(skipped * wave)
    run.begin()
    run.until(waves * wave)
    seconds = run.clock.now - run.begun
    steps = (waves - skipped) * wave * costs.episode_steps * costs.action_repeat
    workers = {"actors": layout.actors, "learners": layout.learners}
    busy = {name: run.worked[name] / (n * seconds) for name, n in workers.items()}
    stalenesses = run.stalenesses
    return Outcome(steps / seconds, sum(stalenesses) / len(stalenesses), busy)


class _Run:
    def __init__(self, costs, layout):
        self._costs, self._layout = costs, layout
        self.clock = simpy.Environment()
        self._cores = simpy.Resource(self.clock, layout.cores) if layout.cores else None
        self._ready = simpy.Store(self.clock)  # actor and train steps of its weights
        self._goes_on = [simpy.Store(self.clock) for _ in range(layout.actors)]
        self._train_steps = 0
        self.begin()
        self._learned = 0
        for actor in range(layout.actors):
            self.clock.process(self._collect(actor))
        self.clock.process(self._learn())

    def begin(self):
        """Measures from now on."""
        self.begun = self.clock.now
        self.worked = collections.Counter()  # seconds of each kind of process
        self.stalenesses = []

    def until(self, episodes):
        while self._learned < episodes:
            self.clock.step()

    def _collect(self, actor):
        costs = self._costs
        decision = costs.decision[1] + costs.step[1]
        while True:
            steps = self._train_steps
            yield from self._work("actors", costs.receive)
            yield from self._work("actors", decision, costs.episode_steps)
            yield from self._work("actors", costs.pack)
            yield self._ready.put((actor, steps))
            yield self._goes_on[actor].get()

    def _learn(self):
        costs, layout = self._costs, self._layout
        step = costs.train[layout.learners] + _sum_seconds(costs, layout)
        while True:
            hurries = layout.actors == 1 or not self._ready.items
            actor, steps = yield self._ready.get()
            # Beside the first learner, the others wait.
            yield from self._work("learners", costs.hand + costs.write + costs.send)
            if hurries:
                yield self._goes_on[actor].put(None)
            self.stalenesses.append(self._train_steps - steps)
            for _ in range(layout.updates):
                yield from self._work("learners", step, processes=layout.learners)
                self._train_steps += 1
            if not hurries:
                yield self._goes_on[actor].put(None)
            yield from self._work("learners", costs.save, processes=layout.learners)
            self._learned += 1

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

    def _book(self, who, seconds, processes):
        """Counts the last seconds as work, those since the measurement began."""
        self.worked[who] += processes * min(seconds, self.clock.now - self.begun)


def _sum_seconds(costs, layout):
    """Of the sum of gradients over learners, each of which sends 2 (n - 1) / n of them."""
    n = layout.learners
    if n == 1:
        return 0.0
    return 2 * (n - 1) / n * costs.gradients / layout.bandwidth + layout.latency
