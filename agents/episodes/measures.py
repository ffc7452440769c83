"""Numbers about an episode."""

import numpy as np


def episode_return(episode) -> float:
    """Undiscounted sum of the rewards of an episode."""
    return float(np.sum(episode["reward"], dtype=np.float64))


def rewarded_steps(episode) -> int:
    """Agent steps of an episode with a reward above 0."""
    return int(np.sum(np.asarray(episode["reward"]) > 0))


def nonzero_rewards(episode) -> int:
    """Rewards other than 0 that the task gave, so its costs as well; not `action_cost`.

    Files of earlier versions do not tell; there every reward counts.
    """
    return int(episode.get("rewards", np.count_nonzero(episode["reward"])))


def reached_reward(episode) -> bool:
    """Whether an episode comes to a reward above 0 from an agent step without one.

    An episode that starts where reward is, and leaves it, has found nothing.

    Example:
        >>> reached_reward({"reward": [0.0, 1.0, 1.0, 0.0]})  # the first row has no action
        False
        >>> reached_reward({"reward": [0.0, 1.0, 0.0, 1.0]})
        True
    """
    rewarded = np.asarray(episode["reward"])[1:] > 0
    return bool(np.any(rewarded[1:] & ~rewarded[:-1]))


def cost(episode) -> float:
    """What actions and negative rewards took from the return of an episode, at least 0.

    An episode tells it, summed over environment steps: the rewards of a decision are sums,
    in which a cost may be hidden by the reward of the next step. Files of earlier versions
    do not tell; there the negative sums count.

    Example:
        >>> cost({"reward": [0.0, 1.0, -2.0, -0.5]})
        2.5
    """
    told = episode.get("cost")
    if told is not None:
        return float(told)
    return float(-np.sum(np.minimum(episode["reward"], 0.0), dtype=np.float64))


def agent_steps(episode) -> int:
    """Actions taken in an episode."""
    return len(episode["reward"]) - 1


def environment_steps(episode, action_repeat) -> int:
    """Environment steps of an episode, whose last action may be cut short.

    Files of earlier versions do not tell; there every action counts in full.

    Example:
        >>> environment_steps({"reward": [0.0, 1.0, 1.0]}, action_repeat=3)
        6
    """
    counted = agent_steps(episode) * action_repeat
    return int(episode.get("environment_steps", counted))
