"""Numbers about an episode."""

import numpy as np


def episode_return(episode) -> float:
    """Undiscounted sum of the rewards of an episode."""
    return float(np.sum(episode["reward"], dtype=np.float64))


def rewarded_steps(episode) -> int:
    """Agent steps of an episode with a reward above 0."""
    return int(np.sum(np.asarray(episode["reward"]) > 0))


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


def agent_steps(episode) -> int:
    """Actions taken in an episode."""
    return len(episode["reward"]) - 1
