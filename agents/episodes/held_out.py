"""Held-out episodes: what the agent meets and was never trained on."""

import envs
from agents.episodes.collecting import TOGETHER, ActingInSome, first_episodes, random_policy
from agents.episodes.environments import EVALUATION, environment_seed, load_environments
from agents.episodes.evaluation import Evaluator

ACTIONS = ("policy", "random")
_RANDOM_ACTIONS = (EVALUATION, 1)  # beside the run's seed; training uses [seed, episode]


def held_out_episodes(config, agent, actions, count):
    """Fresh episodes from the starts of evaluation, which differ from those of training.

    Args:
        config: `agents.config.schema.Train`.
        agent: `agents.agent.planet_agent.PlaNetAgent`.
        actions: `policy`: the agent's, mean weights and no noise; or `random`: uniform.
        count: at least 1.

    Returns:
        List of `count` episodes, see `agents.episodes.layout`; random ones are the same for
        all agents of a task and seed.
    """
    if actions == "policy":
        return [episode for _, episode in Evaluator(config, agent).episodes(count)]
    seeds = envs.spread_seeds(environment_seed(config.seed, EVALUATION), count)
    return [
        episode
        for first in range(0, count, TOGETHER)
        for episode in _random_episodes(config, agent, seeds, first)
    ]


def _random_episodes(config, agent, seeds, first):
    """Those of the environments with these seeds, from number `first`, `TOGETHER` at most.

    They are the same however many run side by side.
    """
    chosen = slice(first, min(first + TOGETHER, len(seeds)))
    environment = load_environments(config, chosen.stop - first, EVALUATION)
    for each, seed in zip(environment.envs, seeds[chosen], strict=True):
        each.seed(seed)
    policy = random_policy(environment, [config.seed, *_RANDOM_ACTIONS], len(seeds))
    return first_episodes(
        environment, ActingInSome(policy, chosen), agent.train_step_counter
    )
