"""What a run learns from: episodes that this process collects, one after another."""

from agents.episodes.collecting import Collector, RandomAtFirst, as_py_policy
from agents.episodes.environments import COLLECTION, load_environments
from agents.episodes.replay import Replay
from agents.episodes.store import EpisodeStore


class CollectedHere:
    """Collects episodes in this process, with the newest weights.

    Args:
        config: `agents.runs.config.schema.Train`.
        run: `agents.runs.folder.Run`, open.

    Attributes:
        store: `agents.episodes.store.EpisodeStore` of the run.
        environment: batched `PyEnvironment`, in which episodes are collected.
        replay: holds what `dataset` draws from.
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
        )
        self.replay = Replay(config.replay_capacity)
        self._collector = None

    def acting(self, agent):
        """Who collects in this process: pairs of a policy and a number of environments."""
        return [(agent.collect_policy, self.environment.batch_size)]

    def collect(self, agent):
        """Brings at least one more episode into the store."""
        if self._collector is None:
            self._collector = self._make_collector(agent)
        self._collector.collect()

    def learned(self, agent):
        """Is told now and then that the agent has learned; here nobody else asks."""

    def close(self):
        """Frees the environments."""
        self.environment.close()

    def _make_collector(self, agent):
        policy = RandomAtFirst(
            as_py_policy(agent.collect_policy),
            self.environment,
            self._config.seed_episodes,
            self._config.seed,
            self._first_episodes,
        )
        return Collector(
            self.environment,
            policy,
            agent.train_step_counter,
            lambda episode, _: self.store.append(episode),
        )
