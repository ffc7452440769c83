"""Which rewards are worth having, and how many of them a run has found."""

from typing import NamedTuple

import numpy as np

_SHARE = 0.01  # of the largest reward: what is less is worth nothing


class Found(NamedTuple):
    """Agent steps of an episode whose reward is worth having.

    Attributes:
        given: those before the first step that is not: the episode started where they are.
        reached: those after it.
    """

    given: int
    reached: int


class RewardsFound:
    """Counts the rewards worth having of all episodes of a run.

    A reward is worth having if it is above 0.01 of the largest that was seen, or could be.
    So a cost is none, nor is the tail of a smooth reward: acrobot_swingup gives 4e-12 to
    half of all random steps.

    An episode may start where reward is, which tells nobody how to come there. Such rewards
    count where at least half of all episodes start so, as on cartpole_balance: there reward
    is not rare.

    Args:
        largest: that a decision can bring; 0 where nobody knows.

    Example:
        >>> found = RewardsFound()
        >>> found.add({"reward": [0.0, 1e-9, 0.0, 2e-9]})  # the first row has no action
        >>> found.count
        2
        >>> found.add({"reward": [0.0, 0.0, 1.0, 1.0]})
        >>> found.count
        2
    """

    def __init__(self, largest=0.0):
        self._largest = largest
        self._rewards = []
        self._found = []

    def add(self, episode):
        """Takes an episode, see `agents.episodes.layout`."""
        rewards = np.array(episode["reward"][1:], np.float32)
        self._rewards.append(rewards)
        largest = max(self._largest, float(rewards.max(initial=0.0)))
        if largest > self._largest:  # what was worth having may be so no more
            self._largest = largest
            self._found = [self._look(some) for some in self._rewards]
        else:
            self._found.append(self._look(rewards))

    @property
    def count(self):
        """Rewards worth having that episodes came to, or that most start with."""
        if not self._found:
            return 0
        given, reached = map(np.array, zip(*self._found, strict=True))
        is_common = np.mean(given > 0) >= 0.5
        return int(reached.sum() + given.sum() * is_common)

    @property
    def newest(self) -> Found:
        """Of the episode that was added last."""
        return self._found[-1]

    def _look(self, rewards):
        is_worth = rewards > _SHARE * self._largest
        given = len(rewards) if is_worth.all() else int(np.argmin(is_worth))
        return Found(given, int(is_worth[given:].sum()))
