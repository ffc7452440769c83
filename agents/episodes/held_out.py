"""Held-out episodes: what the agent meets and was never trained on."""

import contextlib

from agents.episodes.collecting import ActingInSome, random_policy
from agents.episodes.environments import EVALUATION
from agents.episodes.evaluation import Arena, Evaluator, evaluation_seeds

ACTIONS = ("policy", "random")
_RANDOM_ACTIONS = (EVALUATION, 1)  # beside the run's seed; training uses [seed, episode]


def held_out_episodes(config, agent, actions, count):
    """Fresh episodes from the starts of evaluation, which differ from those of training.

    Args:
        config: `agents.runs.config.schema.Train`.
        agent: `agents.planet.agent.planet_agent.PlaNetAgent`.
        actions: `policy`: the agent's, mean weights and no noise; or `random`: uniform.
        count: at least 1.

    Returns:
        List of `count` episodes, see `agents.episodes.layout`; random ones are the same for
        all agents of a task and seed.
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
