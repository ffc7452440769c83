"""How good an agent is: episodes without exploration, each from a seed of its own.

And how long it thinks.
"""

import contextlib
import time

import numpy as np

import envs
from agents.episodes.collecting import (
    ActingInSome,
    ActingLater,
    as_py_policy,
    first_episodes,
    random_policy,
)
from agents.episodes.environments import (
    EVALUATION,
    environment_seed,
    load_environments,
)

_DECISIONS = 50  # that are timed
TOGETHER = 10  # environments at most: one product of the planner serves them all
ACTIONS = ("policy", "random")
_RANDOM_ACTIONS = (EVALUATION, 1)  # beside the run's seed; training uses [seed, episode]


class Evaluator:
    """Runs evaluation episodes of one agent.

    Args:
        config: `agents.runs.config.schema.Train`.
        agent: `agents.planet.agent.planet_agent.PlaNetAgent`.
        policy: `agents.planet.agent.policy.PlanningPolicy`; None: the agent's, mean
            weights and no noise.
    """

    def __init__(self, config, agent, policy=None):
        self._seed = config.seed
        self._agent = agent
        self._policy = policy or agent.policy
        self._policies = {}  # for each number of environments
        self._arena = Arena(config)

    def acting(self, count):
        """Who acts in `episodes(count)` at first: a policy and a number of environments."""
        return [(self._policy, min(TOGETHER, count))]

    def episodes(self, count):
        """Whole episodes, each from a seed of its own.

        The seeds are those of `evaluation_seeds`, so evaluations at different times of a
        run face the same starts.

        Returns:
            List of `count` pairs (environment seed, episode), see `agents.episodes.layout`.
        """
        seeds = evaluation_seeds(self._seed, count)
        episodes = self._arena.episodes(
            seeds, self._policy_for, self._agent.train_step_counter
        )
        return list(zip(seeds, episodes, strict=True))

    def close(self):
        """Frees the environments."""
        self._arena.close()

    def _policy_for(self, environment, some):
        count = environment.batch_size
        if count not in self._policies:
            self._policies[count] = as_py_policy(self._policy)
        return ActingLater(self._policies[count], some.start)


def evaluation_seeds(seed, count):
    """Environment seeds of the first episodes of evaluation; how many changes none of them.

    Example:
        >>> evaluation_seeds(0, 12)[:3] == evaluation_seeds(0, 3)
        True
    """
    return envs.spread_seeds(environment_seed(seed, EVALUATION), count)


class Arena:
    """Environments that are loaded once, for episodes from one start or another."""

    def __init__(self, config):
        self._config = config
        self._loaded = []

    def episodes(self, seeds, make_policy, train_step):
        """The first episode of each seed, some side by side, in the order of the seeds.

        Args:
            seeds: ints, of environments.
            make_policy: called with the batched environment and the slice of `seeds` that
                it is for, returns the `PyPolicy`.
            train_step: as of `agents.episodes.collecting.Collector`.
        """
        episodes = []
        while len(episodes) < len(seeds):
            some = slice(len(episodes), min(len(episodes) + TOGETHER, len(seeds)))
            environment = self._batch(seeds[some])
            policy = make_policy(environment, some)
            episodes += first_episodes(environment, policy, train_step)
        return episodes

    def close(self):
        """Frees the environments."""
        for each in self._loaded:
            each.close()
        self._loaded = []

    def _batch(self, seeds):
        if len(self._loaded) < len(seeds):
            self.close()
            self._loaded = load_environments(self._config, len(seeds), EVALUATION).envs
        chosen = self._loaded[: len(seeds)]
        for each, seed in zip(chosen, seeds, strict=True):
            each.seed(seed)
        return envs.batched(chosen)


def decision_milliseconds(policy):
    """Median wall-clock time of a policy's decision in one environment, after a first."""
    now, state = policy.first_inputs(1)
    act = as_py_policy(policy).action
    state = act(now, state).state
    return 1000.0 * np.median([_seconds(act, now, state) for _ in range(_DECISIONS)])


def _seconds(act, now, state):
    start = time.perf_counter()
    act(now, state)
    return time.perf_counter() - start


def fresh_episodes(config, agent, actions, count):
    """Fresh episodes from the starts of evaluation, which are not those of training.

    Args:
        config: `agents.runs.config.schema.Train`.
        agent: `agents.planet.agent.planet_agent.PlaNetAgent`.
        actions: `policy`: the agent's, mean weights and no noise; or `random`: uniform, the
            same for all agents of a task and seed.
        count: at least 1.
    """
    if actions == "policy":
        with contextlib.closing(Evaluator(config, agent)) as evaluator:
            return [episode for _, episode in evaluator.episodes(count)]
    seeds = evaluation_seeds(config.seed, count)

    def random_in(environment, some):
        """The same actions however many environments run side by side."""
        policy = random_policy(environment, [config.seed, *_RANDOM_ACTIONS], count)
        return ActingInSome(policy, some)

    with contextlib.closing(Arena(config)) as arena:
        return arena.episodes(seeds, random_in, agent.train_step_counter)
