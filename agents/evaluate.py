"""How good an agent is: episodes without exploration, each from a seed of its own."""

from agents.collecting import Collector, as_py_policy
from agents.environments import EVALUATION, load_environments

# Environments evaluated side by side: one product of the planner serves them all.
_TOGETHER = 10


class Evaluator:
    """Runs evaluation episodes of one agent.

    Args:
        config: `agents.config.Train`.
        agent: `agents.planet_agent.PlaNetAgent`.
    """

    def __init__(self, config, agent):
        self._config = config
        self._agent = agent
        self._policy = as_py_policy(agent.policy)

    def episodes(self, count):
        """Whole episodes of the mean weights, without noise, each from its own seed.

        The seeds depend on the run's seed alone, so evaluations at different times of a
        run face the same starts.

        Returns:
            List of `count` episodes, see `agents.episodes`.
        """
        together = min(_TOGETHER, count)
        environment = load_environments(self._config, together, EVALUATION)
        finished = [[] for _ in range(together)]
        collector = Collector(
            environment,
            self._policy,
            self._agent.train_step_counter,
            lambda episode, number: finished[number].append(episode),
        )
        rounds = -(-count // together)
        while min(map(len, finished)) < rounds:
            collector.collect()
        environment.close()
        # Whole rounds: a short episode must not count more often than a long one.
        return [each[i] for i in range(rounds) for each in finished][:count]
