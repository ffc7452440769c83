"""What the vectors that an agent acts by stand for: numbers in bounds, or categories."""

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

    categories = ()  # there are none
    limits = (-1.0, 1.0)  # least and greatest number of a vector

    @property
    def size(self):
        """A."""
        return len(self.low)

    def checked(self, action):
        """The action [A] within the limits."""
        return np.clip(action, *self.limits)

    def nearest(self, vectors):
        """Of uniform vectors [..., A] in the limits uniform actions: they are such."""
        return vectors

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
            f"{low:g} and {high:g} in {'entry' if len(found) == 1 else 'entries'} "
            f"{', '.join(found)}"
            for (low, high), found in entries.items()
        ]
        if not ranges:
            return ""
        return (
            f"without bounds: -1 and 1 stand for {', '.join(ranges)} (action_bound sets it)"
        )


class Categories(NamedTuple):
    """The actions of a task that are categories: a vector [A] has a single 1 in each part.

    Attributes:
        categories: how many each part has, a tuple; A is their sum.
        first: the number that the task gives the first category of each, [parts].

    Example:
        >>> actions = Categories((2, 3), np.array([0, 1]))
        >>> actions.scale(np.array([0.0, 1.0, 0.0, 0.0, 1.0])).tolist()
        [1, 3]
    """

    categories: tuple
    first: np.ndarray
    limits = (0.0, 1.0)

    @property
    def size(self):
        """A."""
        return sum(self.categories)

    def checked(self, action):
        """The action [A]; a ValueError where it is not one-hot."""
        if not np.array_equal(self.nearest(action), action):
            raise ValueError(
                "an action must be one-hot, with a single 1 among the numbers of a part, "
                f"of which there are {self.categories}, got {action}"
            )
        return action

    def nearest(self, vectors):
        """One-hot where each part [..., A] is largest; of uniform vectors uniform."""
        parts = zip(self._split(vectors), self.categories, strict=True)
        chosen = [np.eye(count, dtype=vectors.dtype)[p.argmax(-1)] for p, count in parts]
        return np.concatenate(chosen, -1)

    def scale(self, action):
        """Maps a one-hot action [A] to the number of its category in each part."""
        return self.first + [part.argmax() for part in self._split(action)]

    def without_bounds(self):
        """As of `Actions`; categories lack nothing."""
        return ""

    def _split(self, vectors):
        return np.split(vectors, np.cumsum(self.categories)[:-1], -1)


def actions_of(simulation, bound):
    """The actions of a simulation: `Categories` of its choices, else `Actions`."""
    choices = getattr(simulation, "choices", None)
    if choices is not None:
        return Categories(*choices)
    return make_actions(simulation.action_minimum, simulation.action_maximum, bound)


def make_actions(minimum, maximum, bound=1.0):
    """The actions of a task with such bounds.

    Those without bounds get -`bound` to `bound`. That range is moved inside where there is
    one bound and it is narrower, so that the whole of [-1, 1] has an effect. A bound that
    is infinite, or at least `UNBOUNDED` in size, is none.

    Example:
        >>> make_actions(np.array([-2.0, 5.0]), np.array([2.0, np.inf])).low
        array([-2.,  5.])
    """
    limits = np.asarray([minimum, maximum], np.float64)
    low, high = np.clip(limits, -UNBOUNDED, UNBOUNDED)  # infinite ones have no middle
    is_bounded = (low > -UNBOUNDED) & (high < UNBOUNDED)
    middle = np.clip(0.0, low + bound, high - bound)
    free = middle - bound, middle + bound
    low, high = np.where(is_bounded, [low, high], free)
    return Actions(*np.clip([low, high], *limits), is_bounded)
