"""The process that collects, as an actor of Ray."""

import contextlib
import dataclasses
import math

import numpy as np
import tensorflow as tf

from agents.episodes.environments import COLLECTION, load_environments
from agents.episodes.experience import make_collector
from agents.episodes.store import pack
from agents.training.building import configure_tensorflow, make_agent
from agents.training.compiling import CompilingAhead
from agents.training.distributed.remote import Living
from agents.training.distributed.weights import Weights, acting_variables
from envs.quiet import import_gym


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
        self._nexts, self._finished = None, []

    def collect(self, vectors, nexts, left=None):
        """At least one more episode, by these weights: pairs of its number and its bytes.

        The next episodes of the environments have the numbers `nexts`. Those that are in
        the midst of them go on; a process that is new, or whose last episodes were lost on
        their way, begins there. After so many environment steps that are `left` of the run
        an episode that does not end is cut.
        """
        try:
            if nexts != self._nexts:
                self._begin(nexts, left or self._config.environment_steps)
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
        self._finished.append((number, pack(episode | {"train_steps": steps})))
        self._nexts[row] = number + self._stride


def with_own_noise(config, number):
    """The config of an actor, whose noise stands on its rung of the ladder."""
    if config.noise_ladder == 1:
        return config
    noise = config.action_noise.on_ladder(config.noise_ladder, number, config.actors)
    return dataclasses.replace(config, action_noise=noise)
