"""Held-out episodes: what the agent meets and was never trained on."""

import contextlib
import functools

import envs
from agents.episodes.collecting import TOGETHER, ActingInSome, random_policy
from agents.episodes.environments import EVALUATION, Arena, environment_seed
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
        with contextlib.closing(Evaluator(config, agent)) as evaluator:
            return [episode for _, episode in evaluator.episodes(count)]
    seeds = envs.spread_seeds(environment_seed(config.seed, EVALUATION), count)
    found = []
    with contextlib.closing(Arena(config)) as arena:
        while len(found) < count:
            some = slice(len(found), min(len(found) + TOGETHER, count))
            policy = functools.partial(_random_in_some, config.seed, count, some)
            found += arena.episodes(seeds[some], policy, agent.train_step_counter)
    return found


def _random_in_some(seed, count, some, environment):
    """Random actions that are the same however many environments run side by side."""
    policy = random_policy(environment, [seed, *_RANDOM_ACTIONS], count)
    return ActingInSome(policy, some)
