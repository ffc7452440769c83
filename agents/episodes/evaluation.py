"""How good an agent is: episodes without exploration, each from a seed of its own."""

import envs
from agents.episodes.collecting import TOGETHER, as_py_policy
from agents.episodes.environments import EVALUATION, Arena, environment_seed


class Evaluator:
    """Runs evaluation episodes of one agent.

    Args:
        config: `agents.config.schema.Train`.
        agent: `agents.agent.planet_agent.PlaNetAgent`.
        policy: `TFPolicy` that acts; None: the agent's, mean weights and no noise.
    """

    def __init__(self, config, agent, policy=None):
        self._seed = config.seed
        self._agent = agent
        self._policy = policy or agent.policy
        self._compiled = {}  # for each number of environments
        self._arena = Arena(config)

    def episodes(self, count):
        """Whole episodes, each from a seed of its own.

        The seeds depend on the run's seed alone, so evaluations at different times of a
        run face the same starts.

        Returns:
            List of `count` pairs (environment seed, episode), see `agents.episodes.layout`.
        """
        results = []
        while len(results) < count:
            results += self._side_by_side(len(results), min(TOGETHER, count - len(results)))
        return results

    def close(self):
        """Frees the environments."""
        self._arena.close()

    def _side_by_side(self, done, count):
        if count not in self._compiled:
            self._compiled[count] = as_py_policy(self._policy)
        seeds = envs.spread_seeds(environment_seed(self._seed, EVALUATION + done), count)
        episodes = self._arena.episodes(
            seeds, lambda _: self._compiled[count], self._agent.train_step_counter
        )
        return list(zip(seeds, episodes, strict=True))
