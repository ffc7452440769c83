"""What a run learns from.

The training loop asks an `Experience` for episodes and for batches of them. There are four
kinds: `CollectedHere`, by this process; `CollectedByActors` of
`agents.training.distributed.learner`, by others; `TakenByAnother` of
`agents.training.distributed.together`, as another learner takes them;
`TakenFromLogs` of `agents.training.logged.experience` has all from the start and gets no
more.
"""

import math
from typing import Protocol

from agents.episodes.collecting import Collector, RandomAtFirst, as_py_policy
from agents.episodes.environments import COLLECTION, load_environments
from agents.episodes.replay import Replay
from agents.episodes.store import EpisodeStore


class Experience(Protocol):
    """Where episodes come from, and what draws batches from them.

    Attributes:
        store: has `indices`, the numbers of all episodes, and `read`, as
            `agents.episodes.store.EpisodeStore`.
        environment: batched `PyEnvironment`, for its specs and names.
        replay: `agents.episodes.replay.Replay`.

    One whose episodes are all there from the start says so by `is_whole = True`: then they
    are replayed from the first gradient step on.
    """

    def acting(self, agent):
        """Who collects in this process: pairs of a policy and a number of environments."""

    def collect(self, agent):
        """Returns once the store has an episode that `agent` has not counted."""

    def learned(self, agent):
        """Is told that the agent has counted an episode, and while it learns from it."""

    def close(self):
        """Frees what it holds."""


class CollectedHere:
    """Collects episodes in this process, with the newest weights; an `Experience`.

    Args:
        config: `agents.runs.config.schema.Train`.
        run: `agents.runs.folder.Run`, open.
    """

    def __init__(self, config, run):
        self._config = config
        self.store = EpisodeStore(run.episodes)
        self._first_episodes = self.store.next_numbers(config.environments)
        self.environment = load_environments(
            config,
            config.environments,
            COLLECTION,
            processes=config.environments > 1,
            first_episodes=self._first_episodes,
            cut_after=self._steps_left(),
        )
        self.replay = Replay(config.replay_capacity)
        self._collector = None

    def acting(self, agent):
        """Pairs of a policy and a number of environments."""
        return [(agent.collect_policy, self.environment.batch_size)]

    def collect(self, agent):
        """Brings at least one more episode into the store."""
        if self._collector is None:
            self._collector = self._make_collector(agent)
        self._collector.collect()

    def learned(self, agent):
        """Is told how far the agent is; here nobody else asks."""

    def close(self):
        """Frees the environments."""
        self.environment.close()

    def _steps_left(self):
        """Environment steps of each environment until the run has all, at least 1."""
        config = self._config
        left = config.environment_steps - self.store.environment_steps(config.action_repeat)
        return max(1, math.ceil(left / config.environments))

    def _make_collector(self, agent):
        policy = RandomAtFirst(
            as_py_policy(agent.collect_policy),
            self.environment,
            lambda: agent.clock.environment_steps < self._config.seed_steps,
            self._config.seed,
            self._first_episodes,
        )

        def finished(episode, row):
            self.store.append(episode | {"is_random": policy.is_random[row]})

        return Collector(self.environment, policy, agent.train_step_counter, finished)
