"""A point on a line: a tiny task whose optimum is known, for tests and debugging."""

import numpy as np

from envs.tasks import FAKE_TIME_LIMIT

REACH = 0.1


class Line:
    """A point on [-1, 1] that an action in [-1, 1] moves by at most 0.1.

        position' = clip(position + 0.1 action, -1, 1)
        velocity' = position' - position
        reward    = 1 - |position'|

    An episode is 20 steps. It starts at a uniform position, at rest. The state is
    [position, velocity]; a picture is black with a white column at the position.
    """

    def __init__(self):
        self.action_minimum = np.full([1], -1.0)
        self.action_maximum = np.full([1], 1.0)
        self.time_limit = FAKE_TIME_LIMIT
        self.timestep = 0.1
        self._position = 0.0
        self._velocity = 0.0

    def reset(self, seed):
        self._position = np.random.default_rng(seed).uniform(-1.0, 1.0)
        self._velocity = 0.0

    def step(self, action):
        position = float(np.clip(self._position + REACH * action[0], -1.0, 1.0))
        self._velocity = position - self._position
        self._position = position
        return 1.0 - abs(position), False, 1.0

    def state(self):
        return np.array([self._position, self._velocity])

    def position_only(self):
        return np.array([self._position])

    def position(self):
        return np.array([self._position])

    def velocity(self):
        return np.array([self._velocity])

    def render(self, size, camera, shadows):
        del camera, shadows
        image = np.zeros([size, size, 3], np.uint8)
        image[:, int(round((self._position + 1.0) / 2.0 * (size - 1)))] = 255
        return image

    def close(self):
        pass


def optimal_return(start):
    """The largest return of an episode with an action repeat of 1.

        sum over t of 1 - max(0, |start| - 0.1 t), for t = 1 ... 20

    It is reached by clip(-10 position, -1, 1), which goes to the origin at full speed and
    stays there.

    Args:
        start: position at the start, from -1 to 1.

    Returns:
        A float.

    Example:
        >>> optimal_return(0.0)
        20.0
    """
    times = np.arange(1, FAKE_TIME_LIMIT + 1)
    return float(np.sum(1.0 - np.maximum(0.0, abs(start) - REACH * times)))
