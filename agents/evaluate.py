"""How good an agent is: episodes without exploration, each from a seed of its own."""

import pathlib

import numpy as np

import envs
from agents.collecting import TOGETHER, as_py_policy, first_episodes
from agents.environments import EVALUATION, environment_seed, load_environments
from agents.loading import load_agent
from agents.reports import episode_return
from agents.tables import write_csv


class Evaluator:
    """Runs evaluation episodes of one agent.

    Args:
        config: `agents.config.Train`.
        agent: `agents.planet_agent.PlaNetAgent`.
        policy: `TFPolicy` that acts; None: the agent's, mean weights and no noise.
    """

    def __init__(self, config, agent, policy=None):
        self._config = config
        self._agent = agent
        self._policy = policy or agent.policy
        self._compiled = {}  # for each number of environments

    def episodes(self, count):
        """Whole episodes, each from a seed of its own.

        The seeds depend on the run's seed alone, so evaluations at different times of a
        run face the same starts.

        Returns:
            List of `count` pairs (environment seed, episode), see `agents.episodes`.
        """
        results = []
        while len(results) < count:
            results += self._side_by_side(len(results), min(TOGETHER, count - len(results)))
        return results

    def _side_by_side(self, done, count):
        purpose = EVALUATION + done
        if count not in self._compiled:
            self._compiled[count] = as_py_policy(self._policy)
        episodes = first_episodes(
            load_environments(self._config, count, purpose),
            self._compiled[count],
            self._agent.train_step_counter,
        )
        seeds = envs.spread_seeds(environment_seed(self._config.seed, purpose), count)
        return list(zip(seeds, episodes, strict=True))


def evaluate(run, episodes):
    """Scores the newest checkpoint of a run; prints a line and writes `evaluation.csv`.

    Args:
        run: folder of the run.
        episodes: how many, at least 1.
    """
    config, agent = load_agent(run)
    results = Evaluator(config, agent).episodes(episodes)
    rows = [
        {"episode": number, "seed": seed, "return": episode_return(episode)}
        for number, (seed, episode) in enumerate(results)
    ]
    file = pathlib.Path(run) / "evaluation.csv"
    counts = {
        "environment_steps": int(agent.clock.environment_steps.numpy()),
        "train_steps": int(agent.train_step_counter.numpy()),
    }
    write_csv(file, [counts | row for row in rows])
    returns = np.array([row["return"] for row in rows])
    print(
        f"{config.task} after {counts['environment_steps']} environment steps: "
        f"mean return {returns.mean():.1f}, median {np.median(returns):.1f}, "
        f"lowest {returns.min():.1f}, highest {returns.max():.1f} "
        f"over {len(rows)} episodes; see {file}"
    )
