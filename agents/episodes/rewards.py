"""Which rewards are worth having, and how many of the last episodes came to one."""

from typing import NamedTuple

import numpy as np

_SHARE = 0.01  # of the largest reward: what is less is worth nothing
_LATEST = 10  # episodes by which reward is rare or common


class Found(NamedTuple):
    """Agent steps of an episode whose reward is worth having.

    Attributes:
        given: those before the first step that is not: the episode started where they are.
        reached: those after it.
    """

    given: int
    reached: int


class RewardsFound:
    """Counts how many of the last ten episodes came to a reward worth having.

    A reward is worth having if it is above 0.01 of the largest that was seen, or could be.
    So a cost is none, nor is the tail of a smooth reward: acrobot_swingup gives 4e-12 to
    half of all random steps.

    An episode may start where reward is, which tells nobody how to come there. It counts
    where at least half of all episodes start so, as on cartpole_balance: there reward is
    not rare.

    Args:
        largest: that a decision can bring; 0 where nobody knows.

    Example:
        >>> found = RewardsFound()
        >>> found.add({"reward": [0.0, 1e-9, 0.0, 2e-9]})  # the first row has no action
        >>> found.count  # one of one, so ten of ten
        10
        >>> found.add({"reward": [0.0, 0.0, 0.0, 0.0]})
        >>> found.count
        5
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
        """Of ten episodes those that came to a reward, or start with one where most do.

        These are the last ten; where there are fewer, as many of ten as of them. Before the
        first one it is 0.
        """
        if not self._found:
            return 0
        given, reached = np.array(self._found).T > 0
        came = reached | given if np.mean(given) >= 0.5 else reached
        latest = came[-_LATEST:]
        return int(_LATEST * latest.sum() // len(latest))

    @property
    def newest(self) -> Found:
        """Of the episode that was added last."""
        return self._found[-1]

    def _look(self, rewards):
        is_worth = rewards > _SHARE * self._largest
        given = len(rewards) if is_worth.all() else int(np.argmin(is_worth))
        return Found(given, int(is_worth[given:].sum()))
