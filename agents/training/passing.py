"""What is due after an episode, by the environment steps that passed in it."""

import math
from typing import NamedTuple

_ROUNDING = 1e-6  # 0.29 * 100 is a little less than 29


class Passed(NamedTuple):
    """The environment steps of a run before an episode, and after it.

    Nothing is remembered from one episode to the next but how far the run has come, which
    its checkpoints hold: so a run that was interrupted does what it would have done.

    Attributes:
        before: environment steps, before action repeat.
        after: likewise.

    Example:
        >>> Passed(3000, 4000).updates(0.3), Passed(0, 5).updates(0.3)
        (300, 1)
        >>> Passed(5, 10).updates(0.3)
        2
        >>> Passed(990, 1005).crosses(1000), Passed(1005, 1020).crosses(1000)
        (True, False)
    """

    before: int
    after: int

    def updates(self, per_step):
        """Gradient steps that are due, floor(per_step after) - floor(per_step before).

        What is left of one is due after later episodes.
        """
        before, after = (math.floor(per_step * steps + _ROUNDING) for steps in self)
        return after - before

    def crosses(self, every):
        """Whether a multiple of `every` environment steps was reached; of 0 none is."""
        return every > 0 and self.after // every > self.before // every
