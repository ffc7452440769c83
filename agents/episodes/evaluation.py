"""How good an agent is: episodes without exploration, each from a seed of its own.

And how long it thinks.
"""

import contextlib
import timeit

import numpy as np

import envs
from agents.episodes.collecting import (
    ActingLater,
    RandomPolicy,
    as_py_policy,
    first_episodes,
)
from agents.episodes.environments import EVALUATION, environment_seed, load_environments

_DECISIONS = 50  # that are timed
TOGETHER = 10  # environments at most: one product of the planner serves them all
ACTIONS = ("policy", "random")
_RANDOM_ACTIONS = (EVALUATION, 1)  # beside the run's seed; training uses [seed, episode]


class Evaluator:
    """Runs evaluation episodes of one agent, in environments that are loaded once.

    The policy is an `agents.planet.agent.policy.PlanningPolicy`; None: the agent's, mean
    weights and no noise.
    """

    def __init__(self, config, agent, policy=None):
        self._config = config
        self._agent = agent
        self._policy = policy or agent.policy
        self._policies = {}  # for each number of environments
        self._loaded = []

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
        seeds = evaluation_seeds(self._config.seed, count)
        return list(zip(seeds, self._run(seeds, self._policy_for), strict=True))

    def random_episodes(self, count):
        """Episodes of uniform actions from the same starts: those of every agent."""
        seed = [self._config.seed, *_RANDOM_ACTIONS]

        def random_in(environment, some):
            return RandomPolicy(environment, seed, count, some)

        return self._run(evaluation_seeds(self._config.seed, count), random_in)

    def close(self):
        """Frees the environments."""
        for each in self._loaded:
            each.close()
        self._loaded = []

    def _policy_for(self, environment, some):
        count = environment.batch_size
        if count not in self._policies:
            self._policies[count] = as_py_policy(self._policy)
        return ActingLater(self._policies[count], some.start)

    def _run(self, seeds, make_policy):
        """The first episode of each seed, some side by side, in the order of the seeds.

        The policy is made for a batched environment and the slice of `seeds` that it has.
        """
        episodes, step = [], self._agent.train_step_counter
        while len(episodes) < len(seeds):
            some = slice(len(episodes), min(len(episodes) + TOGETHER, len(seeds)))
            environment = self._batch(seeds[some])
            episodes += first_episodes(environment, make_policy(environment, some), step)
        return episodes

    def _batch(self, seeds):
        if len(self._loaded) < len(seeds):
            self.close()
            self._loaded = load_environments(self._config, len(seeds), EVALUATION).envs
        chosen = self._loaded[: len(seeds)]
        for each, seed in zip(chosen, seeds, strict=True):
            each.seed(seed)
        return envs.batched(chosen)


def evaluation_seeds(seed, count):
    """Environment seeds of the first episodes of evaluation; how many changes none of them.

    Example:
        >>> evaluation_seeds(0, 12)[:3] == evaluation_seeds(0, 3)
        True
    """
    return envs.spread_seeds(environment_seed(seed, EVALUATION), count)


def decision_milliseconds(policy):
    """Median wall-clock time of a policy's decision in one environment, after a first."""
    now, state = policy.first_inputs(1)
    act = as_py_policy(policy).action
    state = act(now, state).state
    seconds = timeit.repeat(lambda: act(now, state), repeat=_DECISIONS, number=1)
    return 1000.0 * np.median(seconds)


def fresh_episodes(config, agent, actions, count):
    """Fresh episodes from the starts of evaluation, which are not those of training.

    Actions are "policy": the agent's, by mean weights and without noise; or "random".
    """
    with contextlib.closing(Evaluator(config, agent)) as evaluator:
        if actions == "random":
            return evaluator.random_episodes(count)
        return [episode for _, episode in evaluator.episodes(count)]
