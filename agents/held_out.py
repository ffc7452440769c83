"""Held-out episodes: what the agent meets and was never trained on."""

from agents.collecting import Collector, random_policy
from agents.environments import EVALUATION, load_environments
from agents.evaluate import Evaluator

ACTIONS = ("policy", "random")
_RANDOM_ACTIONS = (EVALUATION, 1)  # beside the run's seed; training uses [seed, episode]


def held_out_episodes(config, agent, actions, count):
    """Fresh episodes from the starts of evaluation, which differ from those of training.

    Args:
        config: `agents.config.Train`.
        agent: `agents.planet_agent.PlaNetAgent`.
        actions: `policy`: the agent's, mean weights and no noise; or `random`: uniform.
        count: at least 1.

    Returns:
        List of `count` episodes, see `agents.episodes`; random ones are the same for all
        agents of a task and seed.
    """
    if actions == "policy":
        return [episode for _, episode in Evaluator(config, agent).episodes(count)]
    environment = load_environments(config, count, EVALUATION)
    finished = {}  # the first episode of each: short ones must not count more often
    collector = Collector(
        environment,
        random_policy(environment, [config.seed, *_RANDOM_ACTIONS]),
        agent.train_step_counter,
        lambda episode, number: finished.setdefault(number, episode),
    )
    while len(finished) < count:
        collector.collect()
    environment.close()
    return [finished[number] for number in range(count)]
