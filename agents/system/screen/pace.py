"""How long a run will take, from the pace of this session."""

import time


class Pace:
    """Predicts the time left, from whole episodes only.

    Args:
        total: environment steps of the whole run.

    Example:
        >>> pace = Pace(2000)
        >>> pace.start(1000)
        >>> pace.left()
        '?'
    """

    def __init__(self, total):
        self._total = total
        self.start(0)

    def start(self, steps):
        """Starts the session of a run that has done so many environment steps."""
        self._begun = self._last = time.monotonic()
        self._first = self._steps = steps

    def update(self, steps):
        """Takes in that an episode has ended after so many environment steps."""
        self._last, self._steps = time.monotonic(), steps

    @property
    def seconds_per_step(self):
        """Of an environment step, learning and all; None before the first episode."""
        done = self._steps - self._first
        return (self._last - self._begun) / done if done > 0 else None

    def left(self):
        """The time left, in words."""
        if self.seconds_per_step is None:
            return "?"
        since = time.monotonic() - self._last
        return in_words(self.seconds_per_step * (self._total - self._steps) - since)


def in_words(seconds):
    """A time, rounded.

    Example:
        >>> in_words(3700), in_words(130.2), in_words(7)
        ('1 h 01 min', '2 min 10 s', '7 s')
    """
    seconds = max(0, round(seconds))
    hours, minutes = seconds // 3600, seconds // 60 % 60
    if hours:
        return f"{hours} h {minutes:02d} min"
    return f"{minutes} min {seconds % 60:02d} s" if minutes else f"{seconds} s"
