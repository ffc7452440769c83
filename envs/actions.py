"""What actions from -1 to 1 stand for."""

from typing import NamedTuple

import numpy as np

# What stands for "no bound": MuJoCo's mjMAXVAL, which dm_control writes. The largest
# float32, which others write, is beyond.
UNBOUNDED = 1e10


class Actions(NamedTuple):
    """The actions of a task, each scaled to [-1, 1].

    Attributes:
        low: [A], what -1 stands for.
        high: [A], what 1 stands for.
        is_bounded: [A], whether the task bounds it on both sides.
    """

    low: np.ndarray
    high: np.ndarray
    is_bounded: np.ndarray

    def scale(self, action):
        """Maps an action [A] from [-1, 1] to what it stands for."""
        middle, reach = (self.high + self.low) / 2, (self.high - self.low) / 2
        return np.clip(middle + reach * action, self.low, self.high)

    def without_bounds(self):
        """What -1 and 1 stand for where the task does not say; empty where it says all."""
        entries = {}
        for entry in np.flatnonzero(~self.is_bounded):
            entries.setdefault((self.low[entry], self.high[entry]), []).append(str(entry))
        ranges = [
            f"{low:g} to {high:g} in {'entry' if len(found) == 1 else 'entries'} "
            f"{', '.join(found)}"
            for (low, high), found in entries.items()
        ]
        return f"-1 to 1 stands for {', '.join(ranges)}: no bounds" if ranges else ""


def make_actions(minimum, maximum):
    """The actions of a task with such bounds.

    Those without bounds stay as they are; those with one are moved inside where it is
    narrower, so that the whole of [-1, 1] has an effect.

    Args:
        minimum: [A]; infinite, or -`UNBOUNDED` or less, where there is none.
        maximum: [A], likewise.

    Example:
        >>> make_actions(np.array([-2.0, 5.0]), np.array([2.0, np.inf])).low
        array([-2.,  5.])
    """
    limits = np.asarray([minimum, maximum], np.float64)
    low, high = np.clip(limits, -UNBOUNDED, UNBOUNDED)  # infinite ones have no middle
    is_bounded = (low > -UNBOUNDED) & (high < UNBOUNDED)
    middle = np.clip(0.0, low + 1, high - 1)
    low, high = np.where(is_bounded, [low, high], [middle - 1, middle + 1])
    return Actions(*np.clip([low, high], *limits), is_bounded)
